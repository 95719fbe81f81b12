import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { DryRun, EventImport } from "../../schemas/records/import-store.js";
import type { LogEntry } from "../../schemas/records/import-log.js";
import { outcomeOf } from "../support/imports/import-outcome.js";
import { linesOf } from "../support/imports/lines-of.js";
import type { FuzzOwner, FuzzWorld } from "./fuzz-world.js";
import { plainBytes, sentParts, type ImportBody } from "./targets/import-body.js";

/** Tries a body, imports it, and compares what is said of it. */
export async function attemptImport(
  { sent }: FuzzWorld,
  { api }: FuzzOwner,
  { path, ...body }: ImportBody & { path: string },
): Promise<void> {
  const headers = { "Content-Type": "application/ndjson", "Content-Encoding": body.encoding };
  const post = async (to: string) => {
    sent.requests += 1;
    const answer = await api.request(to, { method: "POST", headers, body: Readable.from(sentParts(body)) });
    return { status: answer.status, said: (await answer.json()) as DryRun & EventImport & { code: string } };
  };
  const tried = await post(`${path}?dryRun=true`);
  const started = await post(path);
  assert.equal(tried.status, started.status);
  // A body that is plainly something else is refused as a whole.
  if (started.said.code === "not-ndjson") return;
  assert.equal(started.status, 200, JSON.stringify(started.said));
  const done = await api.pollToDone(started.said, { pollMs: 30 });
  assert.equal(done.status, "done");
  const lines = linesOf(plainBytes(body));
  sent.lines += lines.length;
  const {
    events_total: total,
    events_successfully_imported: imported,
    events_failed_to_import: failed,
  } = done;
  assert.deepEqual({ total, sum: imported + failed }, { total: lines.filter(isEvent).length, sum: total });
  assert.deepEqual(outcomeOf(done), outcomeOf({ ...tried.said, status: "done" }));
  await assertRefused({ api, done, lines });
}

interface Refused {
  api: FuzzOwner["api"];
  done: EventImport;
  lines: readonly Buffer[];
}

/** The log names each refused line once, and these come back as they were sent. */
async function assertRefused({ api, done, lines }: Refused): Promise<void> {
  const path = `/v2/imports/${done.owner}/${done.id}`;
  const log = (await api.readLines(`${path}/log`)).map((line) => JSON.parse(line) as LogEntry);
  assert.deepEqual(
    log.filter(({ type }) => type === "dead-letter" || type === "entries-not-kept"),
    [],
  );
  const refused = log.filter((entry) => entry.class === "error").map(({ line }) => line);
  assert.equal(refused.length, done.events_failed_to_import);
  const answer = await api.request(`${path}/rejected`);
  const rejected = linesOf(Buffer.from(await answer.arrayBuffer()));
  const wanted = refused.sort((a, b) => a - b).map((line) => lines[line - 1] ?? Buffer.alloc(0));
  assert.deepEqual(rejected.map(textOf), wanted.map(textOf));
}

const isEvent = (line: Buffer) => !/^[ \t\r]*$/.test(line.toString("latin1"));

/** Without the CR of its end. */
const textOf = (line: Buffer) => line.toString("latin1").replace(/\r$/, "");
