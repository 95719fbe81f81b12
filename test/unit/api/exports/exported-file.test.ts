import { describe, expect, test } from "vitest";
import { parseExportedFile } from "../../../../api/exports/exported-file.js";

describe("parseExportedFile", () => {
  test.each([
    ["events.csv", "csv", "events.csv"],
    ["a.b.parquet", "parquet", "a.b.parquet"],
    ["../../etc/passwd.csv", "csv", "etc-passwd.csv"],
    ['"; filename="x.exe".arrow', "arrow", "filename-x.exe-.arrow"],
    ["\r\nSet-Cookie: a.ndjson", "ndjson", "Set-Cookie-a.ndjson"],
    [".csv", "csv", "events.csv"],
    ["🦀.csv", "csv", "events.csv"],
    [`${"x".repeat(300)}.csv`, "csv", `${"x".repeat(100)}.csv`],
  ])("reads %j as %s, to be saved as %s", (fileName, format, name) => {
    expect(parseExportedFile(fileName)).toEqual({ format, name });
  });

  test.each(["", "csv", "events", "events.csv.gz", "events.CSV", "eventscsv"])("refuses %j", (fileName) => {
    expect(() => parseExportedFile(fileName)).toThrow("file name must end in one of");
  });
});
