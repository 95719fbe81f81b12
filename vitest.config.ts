import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of 20 s and more, the slowest first: begun last, they would run on alone. */
const SLOW = [
  "faults",
  "roles",
  "hostile-bodies",
  "poison-chunks",
  "funnel-faults",
  "start-and-stop",
  "group-reset",
  "large-answers",
  "documents",
  "collect-crashes",
  "broker",
  "event-log",
  "settlement",
  "given-servers",
  "erasure",
  "breakdowns",
  "funnel",
  "killed",
];

/** A worker ends when the next file is of another project, and a new one takes seconds: so each project at a stretch. */
const PROJECTS = ["unit", "kafka", "system-on-kafka", "browser", "docker", "system"];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const place = SLOW.indexOf(basename(moduleId, ".test.ts"));
      const inProject = place < 0 || project.name === "unit" ? SLOW.length : place;
      return PROJECTS.indexOf(project.name) * 100 + inProject;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

const PROGRAM = [
  "test/support/use-memory.ts",
  "test/support/program/build.ts",
  "test/support/stores/prepare-stores.ts",
  "test/support/program/offer-program.ts",
];
const BROKER = ["test/support/broker/fetch-broker.ts", "test/support/broker/provide-broker.ts"];

/** For projects whose tests start programs and servers; they run beside each other, after the others. */
const WITH_PROCESSES = {
  globalSetup: PROGRAM,
  setupFiles: ["test/support/fail-on-leaks.ts"],
  // Loading the modules of a file anew takes a second of processor time; what a file leaves open fails it.
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  // Node 20 cannot parse `await using`.
  oxc: { target: "es2022", jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    // Files that start programs wait for these for half of their time: with three workers two cores idled a fifth of theirs.
    maxWorkers: 4,
    // Polls end as soon as they may; the default second would fail them on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          // Pure, so that files may share modules: loading them anew for each takes as long as the tests.
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "system", include: ["test/system/**/*.test.ts"], ...WITH_PROCESSES },
      },
      {
        extends: true,
        test: {
          name: "kafka",
          include: ["test/kafka/**/*.test.ts"],
          ...WITH_PROCESSES,
          globalSetup: [...PROGRAM, ...BROKER],
        },
      },
      {
        extends: true,
        test: {
          name: "system-on-kafka",
          // The promises that a log can break. The rest, in one-log, meets the embedded log alone.
          include: ["test/system/both-logs/**/*.test.ts"],
          ...WITH_PROCESSES,
          globalSetup: [...PROGRAM, ...BROKER, "test/support/broker/skip-without-broker.ts"],
          setupFiles: [...WITH_PROCESSES.setupFiles, "test/support/broker/use-broker.ts"],
        },
      },
      {
        extends: true,
        test: { name: "browser", include: ["test/browser/**/*.test.ts"], ...WITH_PROCESSES },
      },
      {
        extends: true,
        test: { name: "docker", include: ["test/docker/**/*.test.ts"], ...WITH_PROCESSES },
      },
    ],
  },
});
