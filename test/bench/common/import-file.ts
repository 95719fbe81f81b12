import type { Readable } from "node:stream";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { OWNER } from "./create-bench-account.js";
import { postFile, postStream, type Post, type PostAnswer } from "./post-file.js";
import { secondsSince } from "./seconds-since.js";

/** An import that ended as `done`. */
export interface DoneImport {
  secondsToAnswer: number;
  secondsToDone: number;
  record: EventImport;
}

interface Imported {
  /** With several, each line names its own. */
  packageIds: readonly string[];
  /** How often the record is read. 100 ms if absent. */
  pollMs?: number;
}

const DONE_MS_MAX = 3_600_000;

/** Posts a gzip file of events and waits for `done`. Throws when the import ends otherwise. */
export function importFile(api: ApiClient, { path, ...imported }: Imported & { path: string }) {
  return importToDone(api, imported, ({ url, headers }) =>
    postFile({ url, headers: { ...headers, "Content-Encoding": "gzip" }, path }),
  );
}

/** The same with a plain body. */
export function importStream(api: ApiClient, { body, ...imported }: Imported & { body: Readable }) {
  return importToDone(api, imported, (post) => postStream({ ...post, body }));
}

export function importPath([first, ...others]: readonly string[]): string {
  return others.length === 0 ? `/v2/packages/${OWNER}/${first ?? ""}/import` : `/v2/${OWNER}/import`;
}

async function importToDone(
  api: ApiClient,
  { packageIds, ...polling }: Imported,
  send: (post: Post) => Promise<PostAnswer>,
): Promise<DoneImport> {
  const url = new URL(importPath(packageIds), api.url);
  const headers = { Authorization: `Bearer ${api.token}`, "Content-Type": "application/ndjson" };
  const startedAt = performance.now();
  const { text } = await send({ url, headers });
  const secondsToAnswer = secondsSince(startedAt);
  const record = await api.pollToDone(JSON.parse(text) as EventImport, {
    timeoutMs: DONE_MS_MAX,
    ...polling,
  });
  const secondsToDone = secondsSince(startedAt);
  if (record.status !== "done")
    throw new Error(`the import ended as ${record.status}: ${JSON.stringify(record)}`);
  return { secondsToAnswer, secondsToDone, record };
}
