import { describe, expect, test } from "vitest";
import { migrationOf, missingMigrations, readSqlFiles } from "../../../schemas/migrations.js";

describe("missingMigrations", () => {
  const [first, second] = [migrationOf("001-one.sql", "select 1"), migrationOf("002-two.sql", "select 2")];
  const known = [first, second];

  test("are all of them in a new database, none in a current one", () => {
    expect(missingMigrations(known, [])).toEqual(known);
    expect(missingMigrations(known, known)).toEqual([]);
  });

  test("are those after what an older program left", () => {
    expect(missingMigrations(known, [first])).toEqual([second]);
  });

  test("cannot be told for a database that is newer than the program", () => {
    expect(() => missingMigrations([first], known)).toThrow(
      "the database is newer than this program: it has the unknown migration 002-two.sql",
    );
  });

  test("cannot be told when an applied file was changed since", () => {
    expect(() => missingMigrations(known, [{ ...first, checksum: "other" }])).toThrow("content that differs");
  });
});

describe("the checksum", () => {
  const sum = (text: string) => migrationOf("001-things.sql", text).checksum;
  const text = "-- Which things?\nCREATE TABLE things (n String DEFAULT 'a -- b')\nENGINE = MergeTree;\n";

  test.each([
    ["another comment", text.replace("Which things?", "Which other things?")],
    ["a comment at the end of a line", text.replace("'a -- b')", "'a -- b') -- the name")],
    ["a comment between slashes", text.replace("ENGINE", "/* plain\n */ ENGINE")],
    ["other white space", text.replaceAll("\n", "\n\n").replaceAll(" (", "\n  (")],
  ])("is the same with %s", (_, changed) => {
    expect(changed).not.toBe(text);
    expect(sum(changed)).toBe(sum(text));
  });

  test.each([
    ["another type", text.replace("String", "UInt32")],
    ["another literal", text.replace("a -- b", "a -- c")],
    ["other white space in a literal", text.replace("a -- b", "a --  b")],
    ["another engine", text.replace("= MergeTree", "= ReplacingMergeTree")],
  ])("differs with %s", (_, changed) => expect(sum(changed)).not.toBe(sum(text)));
});

test("a folder that no change has made yet has no files", async () => {
  expect(await readSqlFiles(new URL("no-such-folder/", import.meta.url))).toEqual([]);
});
