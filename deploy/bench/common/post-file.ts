import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";

export interface FilePost {
  url: URL;
  headers: Record<string, string>;
  /** The file to send as the body. */
  path: string;
}

export interface FileAnswer {
  headers: IncomingHttpHeaders;
  text: string;
}

const READ_BYTES = 256 * 1024;

/**
 * Streams a file as the body of a POST, as `curl -X POST -T <file>` does, for both sides of a comparison. Does not use
 * `fetch`, whose streams take several times the CPU, on cores that the measured program shares. Throws unless the status
 * is 200.
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
    // An answer may arrive before the last byte is sent. An error of the rest is then ignored.
    pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), sending, () => undefined);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200)
    throw new Error(`POST ${url.pathname} answered ${answer.statusCode}: ${body.slice(0, 1000)}`);
  return { headers: answer.headers, text: body };
}
