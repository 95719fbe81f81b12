import { describe, expect, test } from "vitest";
import { missingMigrations, type Migration } from "../../../schemas/migrations.js";

function migration(number: number, checksum = `sum-${number}`): Migration {
  return { number, name: `00${number}-things.sql`, text: "select 1", checksum };
}

describe("missingMigrations", () => {
  const known = [migration(1), migration(2), migration(3)];

  test("are all of them in a new database, none in a current one", () => {
    expect(missingMigrations(known, [])).toEqual(known);
    expect(missingMigrations(known, known)).toEqual([]);
  });

  test("are those after what an older program left", () => {
    expect(missingMigrations(known, [migration(1)]).map(({ number }) => number)).toEqual([2, 3]);
  });

  test("cannot be told for a database that is newer than the program", () => {
    expect(() => missingMigrations(known, [...known, migration(4)])).toThrow(
      "the database is newer than this program: it has migration 004-things.sql, unknown here",
    );
  });

  test("cannot be told when an applied file was changed since", () => {
    expect(() => missingMigrations(known, [migration(1, "other")])).toThrow("another text");
  });
});
