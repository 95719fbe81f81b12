import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { DryRun, EventImport } from "../../schemas/records/import-store.js";
import type { LogEntry } from "../../schemas/records/import-log.js";
import { outcomeOf } from "../support/imports/import-outcome.js";
import { linesOf } from "../support/imports/recount.js";
import type { FuzzOwner, FuzzWorld } from "./fuzz-world.js";
import { plainBytes, sentParts, type ImportBody } from "./targets/import-body.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { READERS, saveExport } from "../support/imports/read-export.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { FUZZED_RANGE } from "./values.js";

interface Attempt extends ImportBody {
  path: string;
  /** `?format=csv` */
  query?: string;
  /** Lines at the beginning that name the columns, and are no events. */
  headerLines?: number;
}

/** Tries a body, imports it, and compares what is said of it. */
export async function attemptImport(
  { sent }: FuzzWorld,
  { api }: FuzzOwner,
  { path, query = "", headerLines = 0, ...body }: Attempt,
): Promise<void> {
  const headers = { "Content-Type": "application/ndjson", "Content-Encoding": body.encoding };
  const post = async (to: string) => {
    sent.requests += 1;
    const answer = await api.request(to, { method: "POST", headers, body: Readable.from(sentParts(body)) });
    return { status: answer.status, said: (await answer.json()) as DryRun & EventImport & { code: string } };
  };
  const tried = await post(`${path}${query === "" ? "?" : `${query}&`}dryRun=true`);
  const started = await post(path + query);
  assert.equal(tried.status, started.status);
  // A body that is plainly something else is refused as a whole.
  if (started.said.code === "not-ndjson" || started.said.code === "invalid-body") return;
  assert.equal(started.status, 200, JSON.stringify(started.said));
  const done = await api.pollToDone(started.said, { pollMs: 30 });
  assert.equal(done.status, "done");
  const lines = linesOf(plainBytes(body));
  sent.lines += lines.length;
  const {
    events_total: total,
    events_successfully_imported: imported,
    events_failed_to_import: failed,
    lines_skipped: skipped,
  } = done;
  const sentLines = lines.slice(headerLines).filter(isEvent).length;
  assert.deepEqual({ total: total + skipped, sum: imported + failed }, { total: sentLines, sum: total });
  assert.equal(done.lines_received, sentLines);
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

const QUERY = new URLSearchParams(FUZZED_RANGE).toString();

/** Reads every export of these artifacts: each format can be read, all have the same rows, and as many are counted. */
export async function assertExportsAgree(
  { api, name }: FuzzOwner,
  artifacts: readonly KnownArtifact[],
): Promise<void> {
  const aggregates = await api.readAggregates(name, FUZZED_RANGE);
  for (const { id, kind } of artifacts) {
    const path = kind === "package" ? `/v1/packages/${id}/events` : "/v1/pixels/events";
    const rows = await rowsOfAll(api, path);
    if (kind === "pixel") continue;
    const counted = aggregates.filter((line) => line.package === id && line.breakdown === "total");
    const total = counted.reduce((sum, line) => sum + line.total, 0);
    assert.equal(rows, total, `${id} has ${rows} rows and a total of ${total}`);
  }
}

/** @returns how many rows each format has */
async function rowsOfAll(api: FuzzOwner["api"], path: string): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), "toolchain-fuzz-"));
  try {
    let first: readonly string[] | undefined;
    for (const { ending, read, seen } of Object.values(READERS)) {
      const file = join(dir, `events.${ending}`);
      const { status } = await saveExport(api, `${path}/events.${ending}?${QUERY}`, { file });
      assert.equal(status, 200);
      const rows = await read(file);
      first ??= rows;
      assertSame(rows, seen(first), ending);
    }
    return first?.length ?? 0;
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** Says what differs first, and how much does. */
function assertSame(rows: readonly string[], wanted: readonly string[], ending: string): void {
  const at = wanted.findIndex((row, index) => row !== rows[index]);
  if (at < 0 && rows.length === wanted.length) return;
  const counts = `${rows.length} rows of ${ending} and ${wanted.length} of csv`;
  throw new Error(`${counts}; the first that differs: ${rows[at]}, in csv ${wanted[at]}`);
}
