import { request, type Agent, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";

export interface CollectCall {
  method?: string;
  /** Path and query. */
  path: string;
  /** The `Host` header; the URL's host by default. */
  host?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | undefined;
  /** A connection for each call where there is none. */
  agent?: Agent;
}

export interface CollectReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Asks live collection as one host among many, and follows nothing. Resolves when the whole answer is there. */
export function callCollect(url: string | undefined, call: CollectCall): Promise<CollectReply> {
  const { method = "GET", path, host, headers = {}, body, agent } = call;
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url ?? "");
    const sent = {
      ...headers,
      ...(host !== undefined && { Host: host }),
      ...(body !== undefined && { "Content-Length": String(Buffer.byteLength(body)) }),
    };
    const sending = request(
      { hostname, port, method, path, headers: sent, agent: agent ?? false },
      (answer) => {
        const { statusCode: status = 0, headers } = answer;
        buffer(answer).then((body) => resolve({ status, headers, body }), reject);
      },
    );
    sending.once("error", reject);
    sending.end(body);
  });
}
