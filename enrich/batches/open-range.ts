import type { ClickHouseClient } from "@clickhouse/client";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { hasRows } from "./chunk-rows.js";
import {
  addRefused,
  fitsNote,
  formatNote,
  formatRanges,
  excludeSpan,
  refusedEnd,
  type RangeNote,
} from "./range-note.js";
import { isReadable, type BatchRecord } from "./read-records.js";
import type { Again } from "./retry-while-down.js";
import { openPoisonDetection, type PoisonDetection, type DetectionDependencies } from "./poison-detection.js";

/** Consecutive records of a batch that become one insert: from one place to before another. */
export interface Span {
  from: number;
  to: number;
}

/** A span that is inserted under a name of its own; one that is written in halves has theirs below it: `0.1`. */
export interface Block extends Span {
  name: string;
}

/** The range of a batch while it is written, and what its note has to remember of it. */
export interface OpenRange extends PoisonDetection {
  readonly records: readonly BatchRecord[];
  readonly note: RangeNote;
  /** How often each record was tried that is left out now. */
  readonly tries: ReadonlyMap<number, number>;
  /** Those left to enrich. */
  isWanted(record: BatchRecord): boolean;
  /** Names a block for its token: what is left out of it is in the name, so that a token stands for the same rows. */
  blockName(block: Block): string;
  save(): Promise<void>;
  /** Throws unless nothing is stored of the records from a place on. */
  requireUnwritten(from: number, cause: unknown): Promise<void>;
  /** Where a block ends that was refused before and is written in halves; undefined for every other. */
  refusedEnd(block: Block): number | undefined;
  /** Notes, without saving it yet, that a block is written in halves from now on. Nothing from its beginning on is stored. */
  refuse(block: Block): void;
  exclude(index: number, why: Exclusion): Promise<void>;
}

interface Exclusion {
  reason: string;
  tries: number;
  /** A place from which on nothing is stored. */
  unwrittenFrom: number;
}

interface RangeDependencies extends Omit<DetectionDependencies, "save"> {
  clickhouse: ClickHouseClient;
  again: Again;
}

/** Where a note grows too large, all that is not written yet is left out: an operator can have it tried again. */
export function openRange(
  batch: LogBatch,
  records: readonly BatchRecord[],
  { note, clickhouse, again, ...detecting }: RangeDependencies,
): OpenRange {
  const tries = new Map<number, number>();
  const repeated = repeatedAmong(records);
  const save = () => again("recording the range", () => batch.recordRange(formatNote(note)));
  const excludeFrom = (from: number) => excludeSpan(note, { from, to: records.length });
  return {
    ...openPoisonDetection({ note, save, ...detecting }),
    records,
    note,
    tries,
    save,
    isWanted: (record) => !repeated.has(record.index) && isWanted(record, note),
    blockName: (block) => blockName(block, note),
    requireUnwritten: (from, cause) => requireUnwritten(records.slice(from), { cause, clickhouse, again }),
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

/** Chunks of live events that stand earlier in the range as well: the log took one twice. */
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

function blockName({ name, from, to }: Block, note: RangeNote): string {
  const excluded = [...note.excluded.keys()].filter((index) => index >= from && index < to);
  return excluded.length === 0 ? name : `${name}-without-${formatRanges(excluded)}`;
}

async function requireUnwritten(
  records: readonly BatchRecord[],
  { cause, clickhouse, again }: { cause: unknown } & Pick<RangeDependencies, "clickhouse" | "again">,
): Promise<void> {
  const chunks = records.filter(isReadable).map(({ chunk }) => chunk);
  const written = await again("looking for rows", () => hasRows(clickhouse, chunks));
  if (written)
    throw new Error("a block that is stored, at least in part, cannot be written again", { cause });
}
