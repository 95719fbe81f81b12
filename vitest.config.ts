import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** System tests to whose subject the event log that the program runs on makes no difference. */
const SAME_ON_EVERY_LOG = [
  // PostgreSQL and the API alone; no program, or none that imports.
  "management/*",
  "admin",
  "import-bookkeeping",
  "scheduled-runs",
  "webhooks/*",
  // ClickHouse alone.
  "clickhouse-deduplication",
  "clickhouse-results",
  "event-exports",
  "event-versions",
  "export-endings",
  "large-answers",
  "native-columns",
  "settlement",
  "funnel-facts",
  // Imports are only a means, in front of PostgreSQL and ClickHouse.
  "funnel",
  "funnel-runs",
  "funnel-announcements",
  "funnel-faults",
  // The embedded stores themselves; test/kafka has the suite that both logs pass.
  "embedded-log",
  "embedded-stores",
  // The hosts and clients that collecting answers; what comes of its events is in collect and collect-crashes.
  "collect-clients",
  "collect-hosts",
  "collect-registries",
  // A log of the test's own that refuses everything.
  "collect-log-away",
  "full-log",
  // A program that ends before it opens a log; sockets and signals of one process.
  "failing-starts",
  "http-servers",
  "roles-apart",
  "signals",
  // PostgreSQL and ClickHouse by their URLs.
  "given-servers",
  // Upstreams of live collection, without the program.
  "upstream-fetch",
  // Threads, most of them the test's own.
  "collect-thread",
  "kept-threads",
  "thread-priorities",
  // The first seeds of the fault suite, which has faults of its own for Kafka (test/kafka).
  "faults",
];

/** Files of half a minute and more, the slowest first: begun last, they would run on alone. */
const SLOW = [
  "faults",
  "roles",
  "poison-chunks",
  "crash-recovery",
  "funnel-faults",
  "hostile-bodies",
  "stop-and-start",
  "broker",
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const place = SLOW.indexOf(basename(moduleId, ".test.ts"));
      const inGroup = place < 0 || project.name === "unit" ? SLOW.length : place;
      return project.config.sequence.groupOrder * 100 + inGroup;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Of projects whose tests start programs and servers; they run beside each other, after the others. */
const WITH_PROCESSES = { testTimeout: 120_000, hookTimeout: 120_000, sequence: { groupOrder: 1 } };

export default defineConfig({
  // Node 20 cannot parse `await using`.
  oxc: { target: "es2022" },
  test: {
    // Each system test file starts stores of its own; more of them at once would only wait for each other.
    maxWorkers: 2,
    // Polls end as soon as they may; the default second would fail them on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 15_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          ...WITH_PROCESSES,
        },
      },
      {
        extends: true,
        test: {
          name: "kafka",
          include: ["test/kafka/**/*.test.ts"],
          globalSetup: ["test/support/build.ts", "test/support/fetch-broker.ts"],
          ...WITH_PROCESSES,
        },
      },
      {
        extends: true,
        test: {
          name: "system-on-kafka",
          include: ["test/system/**/*.test.ts"],
          exclude: SAME_ON_EVERY_LOG.map((file) => `test/system/${file}.test.ts`),
          globalSetup: [
            "test/support/build.ts",
            "test/support/fetch-broker.ts",
            "test/support/provide-broker.ts",
          ],
          setupFiles: ["test/support/use-broker.ts"],
          ...WITH_PROCESSES,
        },
      },
      {
        extends: true,
        test: {
          name: "docker",
          include: ["test/docker/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          ...WITH_PROCESSES,
        },
      },
    ],
  },
});
