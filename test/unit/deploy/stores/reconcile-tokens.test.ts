import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { reconcileTokens } from "../../../../deploy/stores/embedded/clickhouse/reconcile-tokens.js";

let dir: string;
let table: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "toolchain-tokens-"));
  table = join(dir, "store", "0c5", "0c5cb024-f9ad-4dbf-9362-1d09f795375c");
  for (const folder of ["deduplication_logs", "detached"])
    mkdirSync(join(table, folder), { recursive: true });
});

afterEach(() => rmSync(dir, { recursive: true }));

const AFTER_POWER_CUT = { afterPowerCut: true };

interface State {
  parts: string[];
  /** By the numbers of their logs. */
  logs: Record<number, string>;
}

function put({ parts, logs }: State): void {
  for (const part of parts) mkdirSync(join(table, part));
  for (const [number, text] of Object.entries(logs)) writeFileSync(logFile(number), text);
}

const logFile = (number: string | number) =>
  join(table, "deduplication_logs", `deduplication_log_${number}.txt`);
const added = (...parts: string[]) => parts.map((part) => `1\t${part}\ttoken of ${part}\n`).join("");
const partsLeft = () =>
  readdirSync(table)
    .filter((name) => /_\d+$/.test(name))
    .sort();

interface Case extends State {
  what: string;
  forgotten?: string[];
  detached?: string[];
  log?: string;
}

const CASES: Case[] = [
  {
    what: "leaves what agrees as it is, merged and mutated parts included",
    parts: ["all_1_2_1", "all_3_3_0_7", "202611_4_4_0"],
    logs: { 1: added("all_1_1_0", "all_2_2_0", "all_3_3_0", "202611_4_4_0") },
  },
  {
    what: "removes the token of each part that is missing, not only of the last",
    parts: ["all_2_2_0"],
    logs: { 1: added("all_1_1_0", "all_2_2_0", "all_3_3_0") },
    forgotten: ["all_1_1_0", "all_3_3_0"],
    log: added("all_2_2_0"),
  },
  {
    what: "tells the partitions of one insert apart",
    parts: ["202611_1_1_0"],
    logs: { 1: added("202611_1_1_0", "202612_2_2_0") },
    forgotten: ["202612_2_2_0"],
    log: added("202611_1_1_0"),
  },
  {
    what: "removes a line that was cut short, with the part that has no other token",
    parts: ["all_1_1_0", "all_2_2_0"],
    logs: { 1: `${added("all_1_1_0")}1\tall_2_` },
    detached: ["all_2_2_0"],
    log: added("all_1_1_0"),
  },
  {
    what: "moves a part without a token away, with what it was merged into",
    parts: ["all_1_1_0", "all_2_2_0", "all_3_3_0", "all_1_3_1", "all_4_4_0"],
    logs: { 1: added("all_1_1_0", "all_3_3_0", "all_4_4_0") },
    detached: ["all_1_3_1", "all_2_2_0"],
  },
  {
    what: "keeps a part whose token was taken back",
    parts: ["all_1_1_0", "all_1_1_1"],
    logs: { 1: `${added("all_1_1_0")}2\tall_1_1_0\ttoken of all_1_1_0\n` },
  },
  {
    what: "keeps parts that are older than the tokens that ClickHouse still knows",
    parts: ["202401_7_7_0", "all_500_500_0"],
    logs: { 3: added("all_500_500_0"), 4: "" },
  },
  {
    what: "moves a part without a token away that is younger than these",
    parts: ["all_500_500_0", "all_700_700_0"],
    logs: { 3: added("all_500_500_0"), 4: "" },
    detached: ["all_700_700_0"],
  },
  {
    what: "moves the first part of a table away whose log is empty",
    parts: ["all_1_1_0"],
    logs: { 1: "" },
    detached: ["all_1_1_0"],
  },
];

test.each(CASES)("$what", ({ parts, logs, forgotten = [], detached = [], log }) => {
  put({ parts, logs });
  const first = Object.keys(logs)[0] ?? "";
  const found = reconcileTokens(dir, AFTER_POWER_CUT);
  expect({ forgotten: found.forgotten.sort(), detached: found.detached.sort() }).toEqual({
    forgotten,
    detached,
  });
  expect(partsLeft()).toEqual(parts.filter((part) => !detached.includes(part)).sort());
  expect(readdirSync(join(table, "detached")).sort()).toEqual(detached.map((part) => `untokened_${part}`));
  expect(readFileSync(logFile(first), "utf8")).toBe(log ?? logs[Number(first)]);
  expect(reconcileTokens(dir, AFTER_POWER_CUT), "a second time").toEqual({ forgotten: [], detached: [] });
});

test("moves a part away that has the name of one that was moved away before", () => {
  for (const _ of ["first", "second", "third"]) {
    put({ parts: ["all_1_1_0"], logs: { 1: "" } });
    writeFileSync(join(table, "all_1_1_0", "data.bin"), "");
    expect(reconcileTokens(dir, AFTER_POWER_CUT).detached).toEqual(["all_1_1_0"]);
  }
  const moved = ["", "_try1", "_try2"].map((attempt) => `untokened_all_1_1_0${attempt}`);
  expect(readdirSync(join(table, "detached")).sort()).toEqual(moved);
});

test("does nothing where there are no tables yet", () => {
  expect(reconcileTokens(join(dir, "none"), AFTER_POWER_CUT)).toEqual({ forgotten: [], detached: [] });
});

test("leaves parts without a token where they are while the machine has not been started anew", () => {
  put({ parts: ["all_1_1_0"], logs: { 1: "" } });
  expect(reconcileTokens(dir, { afterPowerCut: false })).toEqual({ forgotten: [], detached: [] });
  expect(partsLeft()).toEqual(["all_1_1_0"]);
});
