import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

/** A request whose body is sent by hand, on a connection of its own. */
export interface Upload {
  /** The whole answer; rejects when the connection breaks before it is complete. */
  readonly answer: Promise<UploadAnswer>;
  /** Resolves when the bytes are handed to the connection. */
  send(bytes: Buffer | string): Promise<void>;
  end(): void;
  /** Breaks the connection. */
  breakOff(): void;
}

export interface UploadAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON. */
  body: unknown;
}

/** Sends the headers at once; without a `Content-Length` among them the body is chunked. */
export function openUpload(api: ApiClient, path: string, headers: Record<string, string> = {}): Upload {
  const sent = { Authorization: `Bearer ${api.token}`, "Content-Type": "application/ndjson", ...headers };
  const request = openRequest(new URL(path, api.url), { method: "POST", headers: sent, agent: false });
  const answer = new Promise<UploadAnswer>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => void readAnswer(response).then(resolve, reject));
  });
  // A sender that breaks off does not wait for the answer.
  answer.catch(() => undefined);
  request.flushHeaders();
  return {
    answer,
    async send(bytes) {
      if (!request.write(bytes)) await once(request, "drain");
    },
    end: () => void request.end(),
    breakOff: () => void request.destroy(),
  };
}

async function readAnswer(response: IncomingMessage): Promise<UploadAnswer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(parts).toString());
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
