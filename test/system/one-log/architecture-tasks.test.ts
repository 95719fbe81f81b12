import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  return [...(row ?? "").matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file);
}

/** A change of one file: each text is put after the one before it. */
type Edit = readonly [file: string, after: string, added: string];

/** Makes the change; it must touch exactly the files that the row names. */
function perform(task: string, edits: readonly Edit[]): void {
  expect([...new Set(edits.map(([file]) => file))].sort()).toEqual(filesOf(task).sort());
  for (const [file, after, added] of edits) {
    const text = readFileSync(join(copy, file), "utf8");
    expect(text.split(after), `${file} has it once`).toHaveLength(2);
    writeFileSync(
      join(copy, file),
      text.replace(after, () => after + added),
    );
  }
}

/** What the command says when it fails; nothing when it succeeds. */
function failureOf(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("npx", args, { cwd: copy, encoding: "utf8" });
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
      `\n  { name: "city", question: "Which cities?", values: [{ column: "city", field: "city", filter: "city" }] },`,
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

test("a kind of webhook event is added in the files of its row: subscriptions, outbox and the document know it", () => {
  perform("add a kind of webhook event", [
    [
      "schemas/contracts/webhook-event.ts",
      "export interface WebhookEventData extends NotificationData {",
      '\n  "import-done": { import: string };',
    ],
    [
      "schemas/contracts/webhook-event.ts",
      "export const WEBHOOK_EVENTS = {",
      '\n  "import-done": { when: "An import is done", data: { import: TEXT } },',
    ],
    [
      "schemas/contracts/webhook-event.ts",
      "const OPTIONAL: { [Kind in WebhookEventKind]: Record<OptionalOf<WebhookEventData[Kind]>, object> } = {",
      '\n  "import-done": {},',
    ],
    [
      "schemas/contracts/webhook-examples.ts",
      "const WEBHOOK_EXAMPLES: WebhookEventData = {",
      '\n  "import-done": { import: ID },',
    ],
    [
      "api/dashboard/webhooks/webhook-labels.tsx",
      "export const KIND_LABELS: Record<WebhookEventKind, string> = {",
      '\n  "import-done": "An import is done",',
    ],
  ]);
  const kinds = evaluate(`
    import { WEBHOOK_EVENT_KINDS } from "./schemas/contracts/webhook-event.js";
    const value = WEBHOOK_EVENT_KINDS;`);
  expect(kinds).toContain("import-done");
  expect(failureOf("tsc", "--noEmit")).toBe("");
});
