import { formatBytes } from "../../../../schemas/formats.js";
import { Problem } from "../../../../schemas/problem.js";
import { readWhileSent } from "../../../../ingest/import/read-while-sent.js";
import { requireFewValues } from "../body-limits.js";
import { type LargeBody, SMALL_BYTES } from "../large-bodies.js";
import type { ApiContext } from "../route.js";

/**
 * Reads a request's JSON body, whatever its `Content-Type`, and parses it with `parse`. Throws `too-large` and
 * `request-timeout` as `readBody`, `invalid-body` above the operation's other limits, `malformed-json` for invalid JSON or
 * UTF-8, and `unsupported-encoding` for a compressed body.
 */
export async function readJson<Body>(ctx: ApiContext, parse: (body: unknown) => Body): Promise<Body> {
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  if (encoding !== "" && encoding !== "identity") {
    throw new Problem(
      "unsupported-encoding",
      `JSON bodies must not be compressed: Content-Encoding ${encoding.slice(0, 40)} is not supported here.`,
    );
  }
  return readBody(ctx, (bytes) => parse(parseJson(bytes, ctx)));
}

/** Throws `invalid-body` above the operation's limits, and `malformed-json` for invalid JSON or UTF-8. */
export function parseJson(bytes: Buffer, { state: { bodyLimits } }: ApiContext): unknown {
  requireFewValues(bytes, bodyLimits);
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    throw new Problem("malformed-json", "The body is not valid UTF-8 encoded JSON.", { cause: error });
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a whole body and answers what `use` makes of it, which is not kept afterwards. Throws `too-large` above the
 * operation's limit, and `request-timeout` above the app's. Discards the rest of a body that is too large, so that the
 * caller can read the answer.
 */
export async function readBody<Used>(
  ctx: ApiContext,
  use: (bytes: Buffer) => Used | Promise<Used>,
): Promise<Used> {
  const { account = ctx.state.session?.account, network, bodyMsMax, takeLargeBody } = ctx.state;
  const { bytesMax } = ctx.state.bodyLimits;
  if ((ctx.request.length ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow(bodyMsMax)), bodyMsMax);
  const body = ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const parts: Buffer[] = [];
  let size = 0;
  let large: LargeBody | undefined;
  try {
    for await (const part of readWhileSent(body, { signal: late.signal, idleMsMax: bodyMsMax * 2 })) {
      size += part.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      if (size > SMALL_BYTES) large ??= await takeLargeBody(account?.id ?? network, late.signal);
      parts.push(part);
    }
    clearTimeout(timer);
    const used = () => use(Buffer.concat(parts));
    return await (large === undefined ? used() : large.inTurn(used));
  } catch (error) {
    ctx.req.resume();
    throw error;
  } finally {
    clearTimeout(timer);
    large?.[Symbol.dispose]();
  }
}

function tooSlow(bodyMsMax: number): Problem {
  return new Problem("request-timeout", `The body was not received within ${bodyMsMax / 1000} s.`);
}

function tooLarge(bytesMax: number): Problem {
  return new Problem("too-large", `The body must not be larger than ${formatBytes(bytesMax)}.`);
}
