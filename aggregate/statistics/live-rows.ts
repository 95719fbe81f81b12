import { VERSION_COLUMN } from "../../schemas/contracts/breakdowns.js";
import { VERSION_GROUPINGS } from "../../schemas/contracts/statistics.js";
import { sqlName } from "../queries/sql-literals.js";
import { readQuery } from "../read-query.js";
import { groupSql, isGroup, schemeOf, type VersionScheme } from "./group-version.js";
import type { LiveRows } from "./compose-from-events.js";
import type { Filter, StatisticsQuery } from "./statistics-query.js";

/** The text of a query of them, and its parameters beside those of the range. */
export interface Live {
  rows: LiveRows;
  params: Record<string, unknown>;
}

/** The events that count, once each: those that the filters keep. */
export async function openLiveRows({
  filters,
  automated,
  beforeUntil,
  unsettled,
  libraryTypes,
}: StatisticsQuery): Promise<Live> {
  const scheme = schemeOf(libraryTypes);
  const conditions = [
    ...filters.map((filter, index) => conditionOf(filter, { index, scheme })),
    ...(automated === "exclude" ? ["automated = ''"] : []),
    ...(beforeUntil === undefined
      ? []
      : ["(date >= {start:Date} OR time < fromUnixTimestamp64Milli({beforeUntil:Int64}))"]),
  ];
  const { imports, fromVersion, retracted } = unsettled;
  const isSettled = imports.length === 0;
  const text = await readQuery(`statistics/${isSettled ? "live-rows" : "live-rows-unsettled"}`);
  return {
    rows: (columns, more = []) =>
      text
        .replaceAll(/^--.*\n/gm, "")
        .replaceAll("{columns}", columns.map(sqlName).join(", "))
        // As a function: in a text, `$` has a meaning.
        .replaceAll("{conditions}", () => [...conditions, ...more].map((each) => `AND ${each}`).join(" ")),
    params: {
      ...Object.fromEntries(filters.map(({ values }, index) => [`filter${index}`, values])),
      ...Object.fromEntries(
        filters.flatMap((filter, index) =>
          "variable" in filter ? [[`variable${index}`, filter.variable]] : [],
        ),
      ),
      ...(beforeUntil !== undefined && { beforeUntil: beforeUntil.getTime() }),
      ...(!isSettled && { unsettled: imports, unsettledFrom: fromVersion, retracted }),
    },
  };
}

/** SQL: a version may also be in a group that is asked for. */
function conditionOf(filter: Filter, { index, scheme }: { index: number; scheme: VersionScheme }): string {
  const isOneOf = `IN {filter${index}:Array(String)}`;
  if ("variable" in filter) return `variables[{variable${index}:String}] ${isOneOf}`;
  const value = sqlName(filter.column);
  if (filter.column !== VERSION_COLUMN || !filter.values.some(isGroup)) return `${value} ${isOneOf}`;
  const groups = VERSION_GROUPINGS.map((by) => `${groupSql(value, { scheme, by })} ${isOneOf}`);
  return `(${groups.join(" OR ")})`;
}
