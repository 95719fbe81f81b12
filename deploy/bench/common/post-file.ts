import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";

export interface FilePost {
  url: URL;
  headers: Record<string, string>;
  /** The file that is the body. */
  path: string;
}

export interface FileAnswer {
  headers: IncomingHttpHeaders;
  text: string;
}

const READ_BYTES = 256 * 1024;

/**
 * Streams a file as the body of a POST, as `curl -X POST -T <file>` does. Both sides of a comparison are sent with it, and
 * not with fetch, whose streams cost several times as much of the cores that are shared. Throws unless the answer is 200.
 */
export async function postFile({ url, headers, path }: FilePost): Promise<FileAnswer> {
  const { size } = await stat(path);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(
      url,
      { method: "POST", headers: { ...headers, "Content-Length": size } },
      resolve,
    );
    sending.once("error", reject);
    // An answer may come before the last byte; what then becomes of the rest is no failure of its own.
    pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), sending, () => undefined);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200)
    throw new Error(`POST ${url.pathname} was answered with ${answer.statusCode}: ${body.slice(0, 1000)}`);
  return { headers: answer.headers, text: body };
}
