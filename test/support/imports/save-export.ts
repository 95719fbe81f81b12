import { createWriteStream } from "node:fs";
import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

export interface SavedExport {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
}

/** Writes an answer as it is into a file, once it is there whole; rejects when the connection breaks. */
export async function saveExport(
  api: ApiClient,
  path: string,
  { file, headers = {} }: { file: string; headers?: Record<string, string> },
): Promise<SavedExport> {
  const sent = { Authorization: `Bearer ${api.token}`, ...headers };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(path, api.url), { headers: sent, agent: false }, resolve).once("error", reject);
  });
  await pipeline(response, createWriteStream(file));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    trailers: response.trailers,
  };
}
