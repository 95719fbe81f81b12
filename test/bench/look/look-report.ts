import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { megabytes, rounded, seconds, whole } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import type { CurlRun } from "../common/run-curl.js";
import { textTable } from "../common/text-table.js";
import type { TableSize } from "./read-table-sizes.js";
import type { Usage } from "../usage/sample-usage.js";
import { DAYS, PACKAGES, type StoredEvents } from "./store-events.js";

/** One answer to one request of a turn. */
export interface Looked extends CurlRun {
  group: "answers" | "pages" | "bare";
  name: string;
  status: number;
}

export interface LookRun {
  stored: Pick<StoredEvents, "events" | "addresses">;
  /** Almost no time if the folder held them already. */
  storing: { seconds: number; usage: Usage };
  tables: readonly TableSize[];
  looked: readonly Looked[];
}

const TITLES = {
  answers: "this program",
  pages: "its pages, gzip",
  bare: "ClickHouse, over events",
} as const;
const HEADING = ["time", "first byte", "size", "CPU of ClickHouse"];

/** Medians over the turns. */
export function lookReport({ stored, storing, tables, looked }: LookRun): BenchResult {
  const facts = factsOf(looked);
  const groups = Object.entries(TITLES).map(([group, title]) =>
    textTable([[title, ...HEADING], ...facts.filter((each) => each.group === group).map(rowOf)]),
  );
  const sizes = tables.map(({ table, rows, bytes }) => [table, whole(rows), megabytes(bytes)]);
  const { service, clickhouse } = storing.usage;
  const [program, server] = [service.residentMaxBytes, clickhouse.residentMaxBytes];
  const text =
    `look: ${whole(stored.events)} events, ${PACKAGES} packages, ${DAYS} days, ${whole(stored.addresses)} addresses, ` +
    `medians of ${facts[0]?.turns ?? 0} turns on ${availableParallelism()} cores\n\n${groups.join("\n")}\n` +
    `${textTable([["table", "rows", "on disk"], ...sizes])}\n` +
    `  Stored in ${seconds(storing.seconds)}, with at most ${megabytes(program)} of the program ` +
    `and ${megabytes(server)} of ClickHouse resident.\n`;
  const json = {
    ...{ events: stored.events, addresses: stored.addresses, tables, looked: facts.map(jsonOf) },
    storing: {
      seconds: rounded(storing.seconds),
      ...{ resident_max_bytes: program, clickhouse_resident_max_bytes: server },
    },
  };
  return { text, json };
}

interface Facts {
  group: Looked["group"];
  name: string;
  turns: number;
  /** How many answers had another status than 200. */
  failed: number;
  seconds: number;
  firstByteSeconds: number;
  bytes: number;
  clickhouseSeconds: number;
}

/** Every request of a turn by its name, in the order of the turns. */
function factsOf(looked: readonly Looked[]): Facts[] {
  const keyOf = ({ group, name }: Looked) => `${group} ${name}`;
  return [...new Set(looked.map(keyOf))].map((key) => {
    const runs = looked.filter((each) => keyOf(each) === key);
    const [{ group, name }] = runs as [Looked];
    return {
      ...{ group, name, turns: runs.length },
      failed: runs.filter(({ status }) => status !== 200).length,
      seconds: median(runs.map((run) => run.seconds)),
      firstByteSeconds: median(runs.map((run) => run.firstByteSeconds)),
      bytes: median(runs.map((run) => run.bytes)),
      clickhouseSeconds: median(runs.map((run) => run.usage.clickhouse.cpuSeconds)),
    };
  });
}

function rowOf(facts: Facts): string[] {
  const { name, failed, turns, bytes } = facts;
  return [
    name,
    milliseconds(facts.seconds),
    milliseconds(facts.firstByteSeconds),
    `${whole(bytes / 1000)} kB`,
    milliseconds(facts.clickhouseSeconds),
    ...(failed === 0 ? [] : [`${failed} of ${turns} failed`]),
  ];
}

function jsonOf({ group, name, turns, failed, bytes, ...times }: Facts): object {
  return {
    ...{ group, name, turns, failed, bytes },
    ms: rounded(times.seconds * 1000),
    first_byte_ms: rounded(times.firstByteSeconds * 1000),
    clickhouse_cpu_ms: rounded(times.clickhouseSeconds * 1000),
  };
}

function milliseconds(secondsOf: number): string {
  return `${whole(secondsOf * 1000)} ms`;
}
