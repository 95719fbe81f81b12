import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "architecture-tasks-"));
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n");
  for (const file of files) cpSync(file, join(copy, file));
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
  // Tests of the pages ask git which there are.
  execFileSync("git", ["init", "-q"], { cwd: copy });
  execFileSync("git", ["add", "--all"], { cwd: copy });
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** The files that the row of the architecture page with this task names. */
function filesOf(task: string): string[] {
  const row = readFileSync("deploy/docs/contribute/architecture.md", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`| ${task} |`));
  return [...(row ?? "").matchAll(/`([^`]+\/[^`]*)`/g)].map(([, file = ""]) => file);
}

/** Inserts a text after another one, or creates a file. */
type Edit = readonly [file: string, after: string | null, added: string];

const FILES_MAX = 4;

/** Makes the change. It must touch exactly the files of the row, where a new file stands as its folder. */
function perform(task: string, edits: readonly Edit[]): void {
  const touched = new Set(edits.map(([file, after]) => (after === null ? `${dirname(file)}/` : file)));
  expect([...touched].sort()).toEqual(filesOf(task).sort());
  expect(touched.size).toBeLessThanOrEqual(FILES_MAX);
  for (const [file, after, added] of edits) {
    if (after === null) {
      writeFileSync(join(copy, file), added);
      continue;
    }
    const text = readFileSync(join(copy, file), "utf8");
    expect(text.split(after), `${file} has it once`).toHaveLength(2);
    writeFileSync(
      join(copy, file),
      text.replace(after, () => after + added),
    );
  }
}

/** What the command says when it fails; nothing when it succeeds. */
function failureOf(command: string, ...args: string[]): string {
  const [program, ...rest] = command === "npm" ? [command, ...args] : ["npx", command, ...args];
  const { status, stdout, stderr } = spawnSync(program, rest, { cwd: copy, encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

/** The value that an expression of the copy's modules has. */
function evaluate(source: string): unknown {
  const file = join(copy, "evaluate.ts");
  writeFileSync(file, `${source}\nconsole.log(JSON.stringify(value));\n`);
  const printed = execFileSync("npx", ["tsx", file], { cwd: copy, encoding: "utf8" });
  rmSync(file);
  return JSON.parse(printed);
}

test("a breakdown is added in the files of its row: migrations, exports, statistics and the document know it", () => {
  perform("add a breakdown", [
    [
      "schemas/contracts/breakdowns.ts",
      '    addressField: "unique_total",\n  },',
      `\n  { name: "city", title: "Downloads by city", values: [{ column: "city", field: "city", filter: "city" }] },`,
    ],
    [
      "api/web/statistics/panels.ts",
      "const LABELS: Readonly<Record<string, { title: string; noun: string }>> = {",
      '\n  city: { title: "Cities", noun: "City" },',
    ],
    [
      "deploy/docs/reference/exporting.md",
      "| breakdown | fields | available for |\n|---|---|---|\n",
      "| `city` | `city` | all packages |\n",
    ],
  ]);
  const known = evaluate(`
    import { readMigrations } from "./aggregate/clickhouse/read-migrations.js";
    import { STATISTICS_LISTS, FILTER_COLUMNS } from "./schemas/contracts/breakdowns.js";
    import { AGGREGATE_V1 } from "./schemas/contracts/aggregate.js";
    const migrations = (await readMigrations()).filter(({ text }) => text.includes("'city'"));
    const value = {
      migrations: migrations.map(({ name }) => name),
      lists: STATISTICS_LISTS.some(({ name }) => name === "city"),
      filter: FILTER_COLUMNS.get("city"),
      document: JSON.stringify(AGGREGATE_V1).includes('"city"'),
    };`);
  expect(known).toEqual({ migrations: ["breakdown-city"], lists: true, filter: "city", document: true });
  expect(failureOf("tsc", "--noEmit")).toBe("");
  expect(failureOf("vitest", "run", "--project", "unit", "test/unit/documents")).toBe("");
});

test("a kind of webhook event is added in the file of its row: subscriptions, form and document know it", () => {
  perform("add a kind of webhook event", [
    [
      "schemas/contracts/webhook-event.ts",
      "export const WEBHOOK_EVENTS = {",
      `
  "import-done": {
    label: "Finished imports",
    when: "An import is done",
    data: objectOf(["import"], { import: TEXT }),
    example: { import: "01a1fbad-cab4-710c-82a1-b3f3576e59e4" },
  },`,
    ],
  ]);
  const known = evaluate(`
    import { renderToString } from "preact-render-to-string";
    import { buildDocument } from "./api/base/http/openapi/build-document.js";
    import { KindFields } from "./api/dashboard/webhooks/webhook-labels.js";
    import { WEBHOOK_CREATE } from "./schemas/contracts/webhook.js";
    const { webhooks } = buildDocument([], { version: "1.0.0" });
    const value = {
      created: JSON.stringify(WEBHOOK_CREATE).includes('"import-done"'),
      document: webhooks["import-done"]?.post.summary,
      form: renderToString(KindFields({ chosen: [] })).includes("Finished imports"),
    };`);
  expect(known).toEqual({ created: true, document: "An import is done", form: true });
  expect(failureOf("tsc", "--noEmit")).toBe("");
});

test("a registry is added in the files of its row: the API, the dashboard and the settings know it", () => {
  perform("add a registry", [
    ["schemas/contracts/source.ts", "export const SOURCE_KINDS = [", '\n  "hex",'],
    [
      "api/features/sources/registries/hex.ts",
      null,
      `import { type Registry, WHOLE, compileAnswer, fieldsOf } from "./registry.js";

const read = compileAnswer<{ downloads: { all: number } }>(fieldsOf({ downloads: fieldsOf({ all: WHOLE }) }));

/** Downloads since the package exists. Source: https://github.com/hexpm/specifications */
export const hex: Registry = {
  url: "https://hex.pm",
  title: "Hex",
  noun: "package",
  name: { pattern: /^[a-z][a-z0-9_]{0,127}$/, example: "phoenix" },
  pageOf: (name) => \`https://hex.pm/packages/\${name}\`,
  pages: [{ hosts: ["hex.pm"], path: /^\\/packages\\/([^/]+)/ }],
  ask: ({ name }) => [{ path: \`/api/packages/\${name}\` }],
  read: (answer) => ({
    counters: [{ key: "all", metric: "downloads", value: read(answer).downloads.all }],
  }),
};
`,
    ],
    [
      "api/features/sources/registries/registries.ts",
      'import { githubReleases } from "./github-releases.js";',
      '\nimport { hex } from "./hex.js";',
    ],
    ["api/features/sources/registries/registries.ts", '"github-releases": githubReleases,', "\n  hex,"],
    [
      "deploy/docs/how-to/sources.md",
      "| kind | example names | counts | by version | history | what is counted |\n|---|---|---|---|---|---|\n",
      "| `hex` | `phoenix` | downloads | no | none | downloads of packages |\n",
    ],
  ]);
  const known = evaluate(`
    import { REGISTRY_TITLES } from "./api/features/sources/registries/registries.js";
    import { packageFor, parseRegistryUrl } from "./api/features/sources/parse-registry-url.js";
    import { parseConfig } from "./deploy/config/config.js";
    import { SOURCE_CREATE } from "./schemas/contracts/source.js";
    const found = parseRegistryUrl("https://hex.pm/packages/phoenix/1.7.0");
    const value = {
      ...found,
      package: packageFor(found!),
      title: REGISTRY_TITLES.includes("Hex"),
      urls: parseConfig({ SOURCES_URLS: "hex=https://hex.example.org" }).sources?.urls,
      document: JSON.stringify(SOURCE_CREATE).includes('"hex"'),
    };`);
  expect(known).toEqual({
    kind: "hex",
    name: "phoenix",
    package: { name: "phoenix", libraryType: "other" },
    title: true,
    urls: { hex: "https://hex.example.org" },
    document: true,
  });
  expect(failureOf("tsc", "--noEmit")).toBe("");
  expect(failureOf("npm", "run", "docs")).toBe("");
  expect(
    failureOf("vitest", "run", "--project", "unit", "test/unit/documents", "test/unit/api/features/sources"),
  ).toBe("");
});
