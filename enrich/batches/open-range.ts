import type { Shards } from "../../schemas/shards.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { hasRows } from "./chunk-rows.js";
import type { Block, Span } from "./plan-blocks.js";
import { openPoisonDetection, type DetectionDependencies, type PoisonDetection } from "./poison-detection.js";
import {
  addRefused,
  excludeSpan,
  fitsNote,
  formatNote,
  formatRanges,
  refusedEnd,
  type RangeNote,
} from "./range-note.js";
import { isReadable, type BatchRecord } from "./read-records.js";
import type { Again } from "./retry-while-down.js";
import { startStopwatch } from "./start-stopwatch.js";

/** The range of a batch while it is written, with its note. */
export interface OpenRange extends PoisonDetection {
  readonly records: readonly BatchRecord[];
  readonly note: RangeNote;
  /** How often each excluded record was tried. */
  readonly tries: ReadonlyMap<number, number>;
  /** The records of a span that are to be enriched. */
  wantedIn(span: Span): BatchRecord[];
  /** Names a block for its token. The name holds the excluded records, so that a token stands for the same rows. */
  blockName(block: Block): string;
  save(): Promise<void>;
  /**
   * Call right before an insert. Throws BatchLost if another consumer has the range: it may have written and committed it
   * while this process stood still, and ClickHouse knows the tokens of an insert for a limited number of further ones.
   */
  requireOwned(): Promise<void>;
  /** Throws unless nothing is stored of the records from `from` on. */
  requireUnwritten(from: number, cause: unknown): Promise<void>;
  /** The end of a block that was refused at an earlier attempt; undefined for every other. */
  refusedEnd(block: Block): number | undefined;
  /** Notes, without saving yet, that a block is refused. Nothing from its beginning on may be stored. */
  refuse(block: Block): void;
  exclude(index: number, why: Exclusion): Promise<void>;
}

interface Exclusion {
  reason: string;
  tries: number;
  /** Nothing is stored from this index on. */
  unwrittenFrom: number;
}

interface RangeDependencies extends Omit<DetectionDependencies, "save"> {
  shards: Shards;
  again: Again;
}

/** Excludes all records that are not written yet if the note grows too large: an operator can retry them. */
export function openRange(
  batch: LogBatch,
  records: readonly BatchRecord[],
  { note, shards, again, ...detecting }: RangeDependencies,
): OpenRange {
  const tries = new Map<number, number>();
  const repeated = repeatedAmong(records);
  let sinceRecorded = startStopwatch();
  const record = async () => {
    const sinceBegun = startStopwatch();
    await batch.recordRange(formatNote(note));
    sinceRecorded = sinceBegun;
  };
  const save = () => again("recording the range", record);
  const excludeFrom = (from: number) => excludeSpan(note, { from, to: records.length });
  return {
    ...openPoisonDetection({ note, save, ...detecting }),
    records,
    note,
    tries,
    save,
    requireOwned: async () => {
      // Recording fails with BatchLost if another consumer has the range.
      if (sinceRecorded() >= batch.ownedForMs) await record();
    },
    wantedIn: ({ from, to }) =>
      records.slice(from, to).filter((record) => !repeated.has(record.index) && isWanted(record, note)),
    blockName: (block) => blockName(block, note),
    requireUnwritten: (from, cause) => requireUnwritten(records.slice(from), { cause, shards, again }),
    refusedEnd: (block) => refusedEnd(note, block),
    refuse(block) {
      const before = new Map(note.refused);
      addRefused(note, block);
      if (fitsNote(note)) return;
      note.refused = before;
      excludeFrom(block.from);
    },
    async exclude(index, { reason, tries: tried, unwrittenFrom }) {
      tries.set(index, tried);
      note.excluded.set(index, reason);
      if (!fitsNote(note)) excludeFrom(unwrittenFrom);
      await save();
    },
  };
}

/** Indexes of second copies of a live chunk within the range. */
function repeatedAmong(records: readonly BatchRecord[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const live = records.filter(isReadable).filter(({ chunk }) => chunk.source === "collect");
  const repeated = live.filter(({ chunk: { importId } }) => seen.has(importId) || !seen.add(importId));
  return new Set(repeated.map(({ index }) => index));
}

function isWanted(record: BatchRecord, { excluded, skippedImports }: RangeNote): boolean {
  if (excluded.has(record.index)) return false;
  return !isReadable(record) || !skippedImports.includes(record.chunk.importId);
}

/** Part of a token: a range that was cut short is completed under the same one, also by a later version. */
function blockName({ name, from, to }: Block, note: RangeNote): string {
  const excluded = [...note.excluded.keys()].filter((index) => index >= from && index < to);
  return excluded.length === 0 ? name : `${name}-without-${formatRanges(excluded)}`;
}

async function requireUnwritten(
  records: readonly BatchRecord[],
  { cause, shards, again }: { cause: unknown } & Pick<RangeDependencies, "shards" | "again">,
): Promise<void> {
  const chunks = records.filter(isReadable).map(({ chunk }) => chunk);
  const written = await again("looking for rows", () => hasRows(shards, chunks));
  if (written)
    throw new Error("a block that is stored, at least in part, cannot be written again", { cause });
}
