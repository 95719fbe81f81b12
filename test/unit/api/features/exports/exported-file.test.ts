import { describe, expect, test } from "vitest";
import { parseExportedFile } from "../../../../../api/features/exports/exported-file.js";
import { companiesAsCsv, companiesAsLines } from "../../../../../api/features/companies/answer-companies.js";
import { EXPORT_FORMATS } from "../../../../../schemas/contracts/aggregate.js";
import type { CompanyRecord } from "../../../../../schemas/contracts/funnel.js";
import { testTable } from "../../../../support/test-table.js";

describe("parseExportedFile", () => {
  test.each(EXPORT_FORMATS)("reads the format %s", (format) => {
    expect(parseExportedFile(`events.${format}`)).toEqual({ format, name: `events.${format}` });
  });

  testTable("saves %j as %s", (fileName) => parseExportedFile(fileName).name, [
    ["a.b.parquet", "a.b.parquet"],
    ["../../etc/passwd.csv", "etc-passwd.csv"],
    ['"; filename="x.exe".arrow', "filename-x.exe-.arrow"],
    ["\r\nSet-Cookie: a.ndjson", "Set-Cookie-a.ndjson"],
    [".csv", "events.csv"],
    ["🦀.csv", "events.csv"],
    [`${"x".repeat(300)}.csv`, `${"x".repeat(100)}.csv`],
  ]);

  test.each(["", "csv", "events", "events.csv.gz", "events.CSV", "eventscsv"])("refuses %j", (fileName) => {
    expect(() => parseExportedFile(fileName)).toThrow("file name must end in one of");
  });
});

const NEW: CompanyRecord = {
  domain: "acme.example",
  name: 'Acme, "the" Ltd',
  score: 0.5,
  downloads: 0,
  views: 1,
  downloads_30_days: 0,
};
const KNOWN: CompanyRecord = {
  ...{ domain: "łódź.example", name: "Łódź\nWorks", stage: "ongoing-usage" },
  ...{ since: "2026-01-01T00:00:00.000000Z", score: 70, downloads: 10, views: 0 },
  ...{ first_seen: "2025-01-01", last_seen: "2026-01-01", downloads_30_days: 9 },
};

test("companies as CSV have a header, empty cells for what is not there, and quotes where they are needed", () => {
  expect(companiesAsCsv([NEW, KNOWN])).toBe(
    "domain,name,stage,since,score,downloads,views,first_seen,last_seen,downloads_30_days\n" +
      'acme.example,"Acme, ""the"" Ltd",,,0.5,0,1,,,0\n' +
      'łódź.example,"Łódź\nWorks",ongoing-usage,2026-01-01T00:00:00.000000Z,70,10,0,2025-01-01,2026-01-01,9\n',
  );
});

test("companies as lines are one JSON object each", () => {
  const lines = companiesAsLines([NEW, KNOWN]).split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([NEW, KNOWN]);
  expect(companiesAsLines([])).toBe("");
});
