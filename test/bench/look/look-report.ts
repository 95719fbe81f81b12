import type { BenchResult } from "../common/benchmark.js";
import { whole } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { percentiles } from "../common/percentiles.js";
import { countAnswers } from "../common/rate-facts.js";
import type { SentAtRate } from "../common/send-at-rate.js";
import { factLines, factTable, report } from "../common/report.js";
import type { CurlRun } from "../common/run-curl.js";
import type { Usage } from "../usage/sample-usage.js";
import type { TableSize } from "./read-table-sizes.js";
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
  /** How long the sets of addresses took after it, and how many days got none. */
  sets: { seconds: number; days_without_set: number };
  tables: readonly TableSize[];
  looked: readonly Looked[];
  /** The pages in turn, beside an import. */
  viewed: SentAtRate;
}

const TITLES = {
  answers: "this program",
  pages: "its pages, gzip",
  bare: "ClickHouse, over events",
} as const;

/** Medians over the turns. */
export function lookReport({
  stored,
  storing: { seconds, usage },
  sets,
  tables,
  looked,
  viewed,
}: LookRun): BenchResult {
  const { events, addresses } = stored;
  const facts = factsOf(looked);
  const storing = {
    seconds,
    resident_max_bytes: usage.service.residentMaxBytes,
    clickhouse_resident_max_bytes: usage.clickhouse.residentMaxBytes,
  };
  const views = {
    views_per_second: viewed.latenciesMs.length / viewed.seconds,
    latency_ms: percentiles(viewed.latenciesMs),
    answers: countAnswers([viewed]),
  };
  const groups = Object.entries(TITLES).map(([title, heading]) =>
    factLines(
      heading,
      facts.filter(({ group }) => group === title).map(({ group: _, name, ...rest }) => [name, rest]),
    ),
  );
  return report({
    title:
      `look: ${whole(events)} events, ${PACKAGES} packages, ${DAYS} days, ${whole(addresses)} addresses, ` +
      `medians of ${facts[0]?.turns ?? 0} turns`,
    tables: [
      ...groups,
      factLines(
        "table",
        tables.map(({ table, rows, bytes }) => [table, { rows, bytes }]),
      ),
      factTable("", [["storing", storing]]),
      factLines("then", [["sets of addresses", sets]]),
      factTable("", [["pages beside an import", views]]),
    ],
    json: { events, addresses, tables, looked: facts, storing, sets, views },
  });
}

/** Every request of a turn by its name, in the order of the turns. `failed`: another status than 200. */
function factsOf(looked: readonly Looked[]) {
  const keyOf = ({ group, name }: Looked) => `${group} ${name}`;
  return [...new Set(looked.map(keyOf))].map((key) => {
    const runs = looked.filter((each) => keyOf(each) === key);
    const turns = runs.map(({ group, name, seconds, firstByteSeconds, bytes, usage }) => ({
      ...{ group, name, turns: runs.length },
      failed: runs.filter(({ status }) => status !== 200).length,
      ms: seconds * 1000,
      first_byte_ms: firstByteSeconds * 1000,
      bytes,
      clickhouse_cpu_ms: usage.clickhouse.cpuSeconds * 1000,
    }));
    return overRounds(turns);
  });
}
