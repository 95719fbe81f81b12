import type { Packed } from "./pack-file.js";

/** The API's refusal, in its own sentence. */
export class Refused extends Error {}

export interface Sending {
  url: string;
  packed: Packed;
  /** A repeated request with it answers the first import. */
  key: string;
  /** The part of the body that was sent, from 0 to 1. */
  onSent: (share: number) => void;
  signal: AbortSignal;
}

/** Sends an import and answers its id. By XMLHttpRequest, since `fetch` does not say how much was sent. */
export function sendBody({ url, packed, key, onSent, signal }: Sending): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Content-Type", "application/ndjson");
    request.setRequestHeader("Content-Encoding", packed.encoding);
    request.setRequestHeader("Idempotency-Key", key);
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onSent(total > 0 ? loaded / total : 0),
    );
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      if (request.status === 200 && answer.id !== undefined) resolve(answer.id);
      else reject(new Refused(answer.message ?? `The server answered ${request.status}.`));
    });
    request.addEventListener("error", () => reject(new Error("The connection broke.")));
    request.addEventListener("abort", () => reject(new Error("Stopped. Nothing of the file was imported.")));
    signal.addEventListener("abort", () => request.abort());
    request.send(packed.body);
  });
}

function parsed(text: string): { id?: string; message?: string } {
  try {
    return JSON.parse(text) as { id?: string; message?: string };
  } catch {
    return {};
  }
}

/** `crypto.randomUUID` is absent on pages that were loaded by http from another machine. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
