import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { READERS } from "../support/imports/read-export.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { saveExport } from "../support/imports/save-export.js";
import type { FuzzOwner } from "./fuzz-world.js";
import { FUZZED_RANGE } from "./values.js";

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
