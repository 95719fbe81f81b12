import { describe, expect, test } from "vitest";
import { breakdownMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { composeAggregates } from "../../../../aggregate/queries/open-aggregates.js";
import { namesSql } from "../../../../aggregate/queries/sql-literals.js";
import {
  AGGREGATE_V1,
  aggregateSchema,
  BREAKDOWNS,
  EXPORT_FORMATS,
} from "../../../../schemas/contracts/aggregate.js";
import { BREAKDOWN_LIST, type ValueBreakdown } from "../../../../schemas/contracts/breakdowns.js";

const PACKAGES = [
  { id: "0195b2f0-0000-7000-8000-000000000001", name: "web", libraryType: "docker" },
] as const;
const NINTH: ValueBreakdown = {
  name: "ninth",
  title: "Downloads by ninth",
  values: [
    { column: "ninth", field: "ninth_value", description: "A value" },
    { column: "ninth_detail", field: "ninth_detail", optional: true },
  ],
};
const NINE = [...BREAKDOWN_LIST, NINTH];

/** Names of the columns that a statement answers with. */
function columnsOf(statement: string): string[] {
  const shown = statement.slice(statement.indexOf("SELECT"), statement.indexOf("\nFROM"));
  return shown.split("\n").map((line) => /(\w+),?$/.exec(line)?.[1] ?? "");
}

describe("a ninth breakdown in the list", () => {
  test("is read where it is asked for", () => {
    const asked = { packages: PACKAGES, format: "ndjson" } as const;
    const statement = composeAggregates({ ...asked, breakdowns: ["ninth"] }, NINE);
    expect(statement).toContain("AND breakdown IN ('ninth') AND");
    expect(statement).not.toContain("FROM totals");
    expect(statement).toContain("breakdown = 'ninth', concat(',\"ninth_value\":', toJSONString(value_1)");
    expect(composeAggregates({ ...asked, breakdowns: BREAKDOWNS }, NINE)).not.toMatch(/IN \([^)]*'ninth'/);
  });

  test("is the last of the columns, and of the fields of the API document", () => {
    const csv = composeAggregates({ packages: PACKAGES, breakdowns: ["ninth"], format: "csv" }, NINE);
    const fields = Object.keys(AGGREGATE_V1.properties);
    const added = ["ninth_value", "ninth_detail"];
    expect(columnsOf(csv).slice(1)).toEqual([...fields, ...added].slice(1));
    const schema = aggregateSchema(NINE).properties;
    expect(Object.keys(schema)).toEqual([...fields, ...added]);
    expect(schema).toMatchObject({
      breakdown: { enum: [...BREAKDOWNS, "ninth"] },
      ninth_value: { type: "string", description: "A value" },
    });
  });

  test("has a migration that makes the view anew with all of them, and counts its own earlier events", () => {
    const earlier = breakdownMigrations(BREAKDOWN_LIST);
    const [last, ...others] = breakdownMigrations(NINE).reverse();
    expect(others.reverse()).toEqual(earlier);
    const [view = "", counted = ""] = last?.text.split("INSERT INTO") ?? [];
    const row = "(if(ninth != '', 'ninth', ''), ninth, ninth_detail)";
    expect(view).toContain("if(country != '', 'country', '')");
    expect(view).toContain(row);
    expect(counted).toContain(row);
    expect(counted).toContain("WHERE breakdown = 'ninth'");
    expect(counted).not.toContain("'country'");
  });
});

describe("versions, which only docker packages export", () => {
  const npm = { id: "0195b2f0-0000-7000-8000-000000000003", name: "tool", libraryType: "npm" } as const;
  const of = (packages: Parameters<typeof composeAggregates>[0]["packages"]) =>
    composeAggregates({ packages, breakdowns: BREAKDOWNS, format: "ndjson" });

  test("have a condition where there are other packages", () => {
    expect(of([...PACKAGES, npm])).toContain(
      `(breakdown != 'version' OR package IN CAST(['${PACKAGES[0].id}'] AS Array(UUID)))`,
    );
    expect(of([npm])).toContain("(breakdown != 'version' OR package IN CAST([] AS Array(UUID)))");
    expect(of(PACKAGES)).not.toContain("breakdown != 'version'");
  });
});

describe("the name of a package", () => {
  const asked = { packages: PACKAGES, breakdowns: BREAKDOWNS };

  test("stands after the columns of the first eight breakdowns, whatever is appended", () => {
    const before = columnsOf(composeAggregates({ ...asked, format: "csv" }));
    expect(before.at(-1)).toBe("package_name");
    expect(columnsOf(composeAggregates({ ...asked, format: "csv" }, NINE)).slice(0, before.length)).toEqual(
      before,
    );
  });

  test("is in lines only on request", () => {
    expect(composeAggregates({ ...asked, format: "ndjson" })).not.toContain("package_name");
    expect(composeAggregates({ ...asked, format: "ndjson", named: true })).toContain(
      `',"package_name":', toJSONString(`,
    );
  });

  test("cannot be read as a part of the query", () => {
    const hostile = [...PACKAGES, { id: "0195b2f0-0000-7000-8000-000000000002", name: "'), (SELECT 1) --" }];
    expect(namesSql("package", hostile)).toMatch(
      /^transform\(package, \['[0-9a-f-]+','[0-9a-f-]+'\], \[unhex\('[0-9a-f]+'\),unhex\('[0-9a-f]+'\)\], ''\)$/,
    );
    expect(() => namesSql("package", [...PACKAGES, { id: "' OR 1", name: "x" }])).toThrow("not a UUID");
  });
});

test("no two breakdowns share a name or a field, and their names can stand in a query", () => {
  const fields = BREAKDOWN_LIST.flatMap((each) =>
    "values" in each ? each.values.map(({ field }) => field) : [each.addressField],
  );
  for (const names of [fields, BREAKDOWNS]) expect(new Set(names).size).toBe(names.length);
  for (const format of EXPORT_FORMATS)
    expect(() => composeAggregates({ packages: PACKAGES, breakdowns: BREAKDOWNS, format })).not.toThrow();
  const wrong = { ...NINTH, name: "ninth'; DROP TABLE events" };
  const asked = { packages: PACKAGES, breakdowns: [wrong.name], format: "csv" } as const;
  expect(() => composeAggregates(asked, [wrong])).toThrow("not a name for a query");
});
