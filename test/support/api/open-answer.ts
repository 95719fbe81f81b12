import { get, type IncomingMessage } from "node:http";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

/** Asks for an export on a connection of its own and resolves with the headers; nothing is decompressed. */
export function openAnswer(api: ApiClient, path: string, encoding: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${api.token}`, "Accept-Encoding": encoding };
  return new Promise((resolve, reject) => {
    get(new URL(path, api.url), { headers, agent: false }, resolve).once("error", reject);
  });
}

export async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
