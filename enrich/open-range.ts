import type { ClickHouseClient } from "@clickhouse/client";
import type { LogBatch } from "../schemas/event-log.js";
import { hasRows } from "./chunk-rows.js";
import { formatNote, formatRanges, type RangeNote } from "./range-note.js";
import { isReadable, type BatchRecord } from "./read-records.js";
import type { Again } from "./retry-while-down.js";

/** Earlier beginnings may have been cut short by anything; from this one on, each record is named before it is enriched. */
const CAREFUL_FROM = 3;
/** So often may the program end while it enriches one record before that is taken for the reason. */
const DEATHS_MAX = 3;

/** Consecutive records of a batch that become one insert: from one place to before another. */
export interface Span {
  from: number;
  to: number;
}

/** The range of a batch while it is written, and what its note has to remember of it. */
export interface OpenRange {
  readonly records: readonly BatchRecord[];
  readonly note: RangeNote;
  /** How often each record was tried that is left out now. */
  readonly tries: ReadonlyMap<number, number>;
  /** Those left to enrich. */
  isWanted(record: BatchRecord): boolean;
  /** Names a block for its token: what is left out of it is in the name, so that a token stands for the same rows. */
  blockName(block: string, span: Span): string;
  save(): Promise<void>;
  /** Called before a record is enriched: a death from here on names it. Costs a flush where it is needed at all. */
  hold(index: number): Promise<void>;
  /** The record is not to blame for what comes now. */
  release(): Promise<void>;
  /** Why a record must be set aside that nobody could throw an error for. */
  deadly(index: number): string | undefined;
  /** Throws unless nothing is stored of the records from a place on. */
  requireUnwritten(from: number, cause: unknown): Promise<void>;
  leaveOut(index: number, why: { reason: string; tries: number }): Promise<void>;
}

interface RangeDependencies {
  note: RangeNote;
  clickhouse: ClickHouseClient;
  again: Again;
}

export function openRange(
  batch: LogBatch,
  records: readonly BatchRecord[],
  { note, clickhouse, again }: RangeDependencies,
): OpenRange {
  const careful = note.begun >= CAREFUL_FROM;
  const tries = new Map<number, number>();
  const save = () => again("recording the range", () => batch.recordRange(formatNote(note)));
  const release = async () => {
    if (note.at === undefined) return;
    note.at = undefined;
    await save();
  };

  return {
    records,
    note,
    tries,
    save,
    release,
    isWanted: (record) =>
      !note.leftOut.has(record.index) &&
      (!isReadable(record) || !note.passedOver.includes(record.chunk.importId)),
    blockName(block, { from, to }) {
      const leftOut = [...note.leftOut.keys()].filter((index) => index >= from && index < to);
      return leftOut.length === 0 ? block : `${block}-without-${formatRanges(leftOut)}`;
    },
    async hold(index) {
      if (!careful) return;
      note.at = index;
      await save();
    },
    deadly(index) {
      const deaths = note.deaths.get(index) ?? 0;
      return deaths < DEATHS_MAX ? undefined : `the program ended ${deaths} times while it was enriched`;
    },
    async requireUnwritten(from, cause) {
      const chunks = records
        .slice(from)
        .filter(isReadable)
        .map(({ chunk }) => chunk);
      const written = await again("looking for rows", () => hasRows(clickhouse, chunks));
      if (written)
        throw new Error("a block that is stored, at least in part, cannot be written again", { cause });
    },
    async leaveOut(index, { reason, tries: tried }) {
      note.at = undefined;
      note.leftOut.set(index, reason);
      tries.set(index, tried);
      await save();
    },
  };
}
