import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Automation } from "../../schemas/contracts/statistics.js";
import { nameLiterals, sqlName } from "../queries/sql-literals.js";
import { type Grouping, storedVersion } from "./group-version.js";
import {
  BEFORE,
  BOTH_RANGES,
  COMPARED,
  OF_PACKAGES,
  OF_PIXELS,
  RANGE,
  type Scoped,
} from "./compose-from-tables.js";
import { firstRowsSql, listConditions, valueSql, type ListNarrowing } from "./statistics-lists.js";
import type { Compares } from "./statistics-query.js";

export interface TableLists extends ListNarrowing {
  grouping: Grouping;
  compares: Compares;
}

/**
 * Which values had these lists, and how often? The first rows of each list, read in one pass; `present` is how many values
 * a list has in a part of the ranges. Takes `packages` and `pixels`
 * from the text in front and the parameters of `listConditions`. Undefined if nothing can be in them.
 */
export function composeTableLists(
  lists: readonly StatisticsList[],
  { pixels, automated }: Scoped,
  { grouping, ...narrowing }: TableLists,
): string | undefined {
  const counted = lists.filter(({ counts }) => counts === "downloads");
  const viewed = pixels ? lists.filter(({ counts }) => counts === "views") : [];
  const parts = [
    ...(counted.length === 0 ? [] : [ofBreakdowns(counted, grouping)]),
    ...viewed.map(ofViews),
  ].map((rows) => `(${firstRows(rows, automated, narrowing)})`);
  return parts.length === 0 ? undefined : parts.join("\nUNION ALL\n");
}

interface ListedRows {
  lists: readonly StatisticsList[];
  /** SQL of the list's name and of its values. */
  columns: readonly [list: string, value1: string, value2: string];
  table: string;
  where: string;
  amounts: typeof OF_PACKAGES | typeof OF_PIXELS;
}

function ofBreakdowns(lists: readonly StatisticsList[], grouping: Grouping): ListedRows {
  const version = storedVersion("counted.value_1");
  const value = lists.reduce((sql, list) => {
    const ofList = valueSql(version, list, grouping);
    return ofList === version ? sql : `if(counted.breakdown = '${sqlName(list.name)}', ${ofList}, ${sql})`;
  }, "counted.value_1");
  return {
    lists,
    columns: ["counted.breakdown", value, "counted.value_2"],
    table: "breakdown_values",
    where: `breakdown IN (${nameLiterals(lists)})`,
    amounts: OF_PACKAGES,
  };
}

function ofViews(list: StatisticsList): ListedRows {
  const {
    name,
    values: [first, second],
  } = list;
  const column = sqlName(first.column);
  return {
    lists: [list],
    columns: [`'${sqlName(name)}'`, column, second === undefined ? "''" : sqlName(second.column)],
    table: "events",
    where: `kind = 'pixel' AND ${column} != ''`,
    amounts: OF_PIXELS,
  };
}

/** Types are spelled out, so that they do not depend on which lists stand beside these. */
function firstRows(
  { lists, columns: [list, value1, value2], table, where, amounts }: ListedRows,
  automated: Automation,
  { compares, ...narrowing }: Omit<TableLists, "grouping">,
): string {
  const { ofArtifacts, amount } = amounts[automated];
  const { searched, followed } = listConditions(narrowing);
  return `SELECT CAST(${list} AS String) AS list, CAST(${value1} AS String) AS value_1, CAST(${value2} AS String) AS value_2,
  ${partSums(amount, { by: "list" })}
FROM ${table} AS counted
WHERE ${ofArtifacts} AND ${where} AND ${BOTH_RANGES}
GROUP BY ${list}, ${value1}, ${value2}
HAVING ${isIn(compares)}${searched}${followed}
${firstRowsSql(lists)}`;
}

/** SQL of what a value has in each part of the ranges, and of how many values of its list have something there. */
export function partSums(amount: string, { by }: { by: string }): string {
  const present = (part: string) => `countIf(${part} > 0) OVER (PARTITION BY ${by})`;
  return `sumIf(${amount}, ${RANGE}) AS amount, sumIf(${amount}, ${COMPARED}) AS compared, sumIf(${amount}, ${BEFORE}) AS before,
  ${present("amount")} AS present, ${present("compared")} AS present_compared, ${present("before")} AS present_before`;
}

/** SQL: whether a value with these sums is read. */
export function isIn(compares: Compares): string {
  return compares === "nothing" ? "amount > 0" : "(amount > 0 OR before > 0)";
}
