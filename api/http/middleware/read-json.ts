import { Problem } from "../../../schemas/problem.js";
import { readWhileSent } from "../../../ingest/import/read-while-sent.js";
import type { ApiContext } from "../route.js";

/**
 * Reads a request's JSON body, whatever its `Content-Type`, and parses it with `parse`. Throws `too-large` beyond 1
 * MiB, `request-timeout` beyond the app's limit, `malformed-json` for invalid JSON or UTF-8, and `unsupported-encoding`
 * for a compressed body.
 */
export async function readJson<Body>(ctx: ApiContext, parse: (body: unknown) => Body): Promise<Body> {
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  if (encoding !== "" && encoding !== "identity") {
    throw new Problem(
      "unsupported-encoding",
      `A JSON body cannot be sent with Content-Encoding ${encoding}.`,
    );
  }
  return parse(decodeJson(await readBody(ctx)));
}

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Reads a whole body. Throws `too-large` and `request-timeout` as `readJson`. Discards the rest of a body that is too
 * large, so that the caller can read the answer.
 */
export async function readBody(ctx: ApiContext): Promise<Buffer> {
  if ((ctx.request.length ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const { bodyMsMax } = ctx.state;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow(bodyMsMax)), bodyMsMax);
  const body = ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of readWhileSent(body, { signal: late.signal, idleMsMax: bodyMsMax * 2 })) {
      size += part.length;
      if (size > BODY_BYTES_MAX) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    ctx.req.resume();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts);
}

function decodeJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    throw new Problem("malformed-json", "The body is not valid JSON in UTF-8.", { cause: error });
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function tooSlow(bodyMsMax: number): Problem {
  return new Problem("request-timeout", `The body did not come within ${bodyMsMax / 1000} s.`);
}

function tooLarge(): Problem {
  return new Problem("too-large", "The body may have at most 1 MiB.");
}
