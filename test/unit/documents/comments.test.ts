import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** The opening of a comment, or of a line in one, that is a relative clause. A question is none. */
const RELATIVE_CLAUSE = /(?:^[ \t]*\*|\/\/|\/\*\*?)\s+(?:Of|What|Who|Where)\b(?![^.:;?]*\?).*/gm;

const clausesIn = (text: string) => [...text.matchAll(RELATIVE_CLAUSE)].map(([clause]) => clause.trim());

const sources = execFileSync("git", ["ls-files", "*.ts", "*.tsx", ":!test"], { encoding: "utf8" })
  .trim()
  .split("\n");

test("no comment begins with a clause that lacks its subject", () => {
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap((path) =>
    clausesIn(readFileSync(path, "utf8")).map((clause) => `${path}: ${clause}`),
  );
  expect(found).toEqual([]);
});

describe("a comment", () => {
  test.each([
    "// Of several, the first counts.",
    "  /** What the list shows. */",
    "/** Who may export: owners. Which ones? */",
    "{/* Where it is. */}",
    "/**\n * Where it is.\n */",
    "/**\n * Keeps the first.\n * Of several, that is the oldest.\n */",
    "| { /** Of `events`. */ column: string }",
  ])("is found: %j", (text) => {
    expect(clausesIn(text)).toHaveLength(1);
  });

  test.each([
    "/** What happened in a range,\n * and in each of its buckets? Rows of amounts. */",
    "/** The rows of a list. */",
    "/** Whose rows are kept. */",
    "/** Offsets of records. */",
    'const about = "What each line names";',
  ])("may be: %j", (text) => {
    expect(clausesIn(text)).toEqual([]);
  });
});
