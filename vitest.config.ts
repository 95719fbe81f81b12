import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

type ProjectConfig = NonNullable<TestProjectInlineConfiguration["test"]>;
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { START_SOONER } from "./test/support/program/start-sooner.js";

/** A file that starts programs or fills stores of its own, in more places the slower: begun last, it would run on alone. */
const STARTS =
  /\b(?:startToolchain|startCluster|startFailing|open\w*World|open\w*Shards|use\w*(?:Toolchain|World))\(/g;

/** A worker ends when the next file is of another project, and a new one takes seconds: so each project at a stretch. */
const PROJECTS = ["unit", "kafka", "system-on-kafka", "system-on-cluster", "browser", "docker", "system"];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const starts = [...readFileSync(moduleId, "utf8").matchAll(STARTS)].length;
      return PROJECTS.indexOf(project.name) * 100 - Math.min(starts, 99);
    };
    // Among equals the order of vitest stays: as long as they took the last time or, on a clean clone, as long as they are.
    const ranks = new Map(files.map((file) => [file, rank(file)]));
    const rankOf = (file: TestSpecification) => ranks.get(file) ?? 0;
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

const PROGRAM = [
  "test/support/use-memory.ts",
  "test/support/program/build.ts",
  "test/support/stores/prepare-stores.ts",
  "test/support/program/offer-program.ts",
];
const BROKER = ["test/broker/suite/fetch-broker.ts", "test/broker/suite/provide-broker.ts"];

/** For projects whose tests start programs and servers; they run beside each other, after the others. */
const WITH_PROCESSES = {
  globalSetup: PROGRAM,
  setupFiles: ["test/support/fail-on-leaks.ts"],
  // Loading the modules of a file anew takes a second of processor time; what a file leaves open fails it.
  isolate: false,
  // Beside other files on two slow cores a test takes up to ten times as long as by itself. What hangs still ends.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  sequence: { groupOrder: 1 },
};

/** Long suites are those of `npm run test:long`, and only those. */
const IS_LONG = process.env["TEST_LONG"] === "true";

/** The tests of a folder that this run is about. `npm test` leaves out files that end in `.long.test.ts`. */
const testsOf = (...folders: string[]) =>
  IS_LONG
    ? { include: folders.map((folder) => `${folder}/**/*.long.test.ts`) }
    : { include: folders.map((folder) => `${folder}/**/*.test.ts`), exclude: ["**/*.long.test.ts"] };

const OF_PROGRAM = /^(?:aggregate|api|deploy|enrich|ingest|schemas)\/.*\.js$/;

/** Node loads the program's modules from dist/ itself: transforming them anew in each process takes seconds. */
const BUILT_PROGRAM = {
  name: "built-program",
  enforce: "pre",
  resolveId(source: string, importer = "") {
    if (!source.startsWith(".")) return undefined;
    const path = relative(import.meta.dirname, resolve(dirname(importer), source));
    return OF_PROGRAM.test(path) ? join(import.meta.dirname, "dist", path) : undefined;
  },
} as const;

function withProcesses(test: ProjectConfig): TestProjectInlineConfiguration {
  return {
    extends: true,
    plugins: [BUILT_PROGRAM],
    test: { ...WITH_PROCESSES, server: { deps: { external: [/\/dist\//] } }, ...test },
  };
}

/** The promises that a log can break. `npm test` runs them on the embedded log, and those of one-log meet only that one. */
const onKafka = () =>
  withProcesses({
    name: "system-on-kafka",
    include: ["test/system/both-logs/**/*.test.ts"],
    globalSetup: [...PROGRAM, ...BROKER, "test/broker/suite/skip-without-broker.ts"],
    setupFiles: [...WITH_PROCESSES.setupFiles, "test/broker/suite/use-broker.ts"],
  });

const inContainers = () => withProcesses({ name: "docker", include: ["test/docker/**/*.test.ts"] });

/** The promises about numbers and rows, on the servers of TEST_CLICKHOUSE_SHARDS. Reported nowhere without them. */
const onCluster = () =>
  withProcesses({
    name: "system-on-cluster",
    include: [
      "test/system/one-log/{exports,funnel}/**/*.test.ts",
      "test/system/one-log/imports/retraction.test.ts",
    ],
    globalSetup: [...PROGRAM.slice(0, -1), "test/support/shards/offer-program-on-servers.ts"],
    setupFiles: [...WITH_PROCESSES.setupFiles, "test/support/shards/use-servers.ts"],
    // A statement reaches four servers or more, and a quorum waits for disks: files after one another, and after the rest.
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  });

export default defineConfig({
  // Node 20 cannot parse `await using`.
  oxc: { target: "es2022", jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    // Each may run a cluster of its own. With five on two slow cores programs missed their 20 s to drain.
    maxWorkers: 3,
    execArgv: [`--import=${START_SOONER}`],
    // Polls end as soon as they may; the default second would fail them on a busy machine.
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        plugins: [BUILT_PROGRAM],
        test: {
          name: "unit",
          server: { deps: { external: [/\/dist\//] } },
          ...testsOf("test/unit"),
          globalSetup: ["test/support/program/build.ts"],
          // Pure, so that files may share modules: loading them anew for each takes as long as the tests.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      withProcesses({ name: "system", ...testsOf("test/system") }),
      withProcesses({
        name: "kafka",
        ...testsOf("test/kafka"),
        globalSetup: [...PROGRAM, ...BROKER],
      }),
      ...(IS_LONG ? [onKafka()] : []),
      ...(process.env["TEST_CLICKHOUSE_SHARDS"] === undefined ? [] : [onCluster()]),
      withProcesses({ name: "browser", ...testsOf("test/browser") }),
      ...(process.env["TEST_DOCKER"] === "true" ? [inContainers()] : []),
    ],
  },
});
