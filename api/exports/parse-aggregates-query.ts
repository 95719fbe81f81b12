import type { ParsedUrlQuery } from "node:querystring";
import { BREAKDOWNS, type Breakdown } from "../../schemas/contracts/aggregate.js";
import { parseDateRange, type DateRange } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { parsePackageType } from "../packages/package-path.js";

export interface AggregatesAsked {
  range: DateRange;
  breakdowns: readonly Breakdown[];
  /** Id or name; every package if absent. */
  package: string | undefined;
  packageType: LibraryType | undefined;
  /** Whether lines of NDJSON have the package's name. */
  named: boolean;
}

/** Throws `invalid-query`, `invalid-date`, `empty-range`, `range-too-long`. */
export function parseAggregatesQuery(
  query: ParsedUrlQuery,
  { daysMax }: { daysMax: number },
): AggregatesAsked {
  const range = parseDateRange(query, { daysMax });
  const { breakdown, package: idOrName, fields } = query;
  if (idOrName !== undefined && typeof idOrName !== "string")
    throw new Problem("invalid-query", "package can be given once.");
  if (fields !== undefined && fields !== "name") throw new Problem("invalid-query", "fields must be name.");
  return {
    range,
    breakdowns: parseBreakdowns(breakdown),
    package: idOrName,
    packageType: parsePackageType(query),
    named: fields === "name",
  };
}

function parseBreakdowns(text: string | string[] | undefined): readonly Breakdown[] {
  if (text === undefined) return BREAKDOWNS;
  const names = (typeof text === "string" ? [text] : text).flatMap((each) => each.split(","));
  const unknown = names.find((name) => !BREAKDOWNS.includes(name as Breakdown));
  if (unknown === undefined) return names as Breakdown[];
  throw new Problem("invalid-query", `breakdown must be of ${BREAKDOWNS.join(", ")}.`);
}
