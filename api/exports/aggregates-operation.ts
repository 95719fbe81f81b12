import { AGGREGATE_V1, BREAKDOWNS } from "../../schemas/contracts/aggregate.js";
import { EXPORT_FORMATS, MEDIA_TYPES } from "../../schemas/contracts/export-format.js";
import { PACKAGE_PROBLEMS, PACKAGE_QUERY } from "../packages/package-path.js";
import type { Operation } from "../http/operation.js";
import { EXPORT_HEADERS, rangeQuery } from "./export-parameters.js";

const EXAMPLE = {
  breakdown: "country",
  date: "2026-11-01",
  package: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  total: 12,
  country: "DE",
};

const SUMMARIES = {
  organization: "Daily counts of the packages of an organization, by breakdown",
  user: "Daily counts of your own packages, by breakdown",
};

const IDS = {
  organization: "exportOrganizationAggregates",
  user: "exportUserAggregates",
};

export interface AggregatesPath {
  kind: keyof typeof SUMMARIES;
  /** Whether the format is the ending of the path, instead of in `Accept`. */
  hasEnding: boolean;
}

/** The OpenAPI description of an export of aggregates. */
export function aggregatesOperation(
  { kind, hasEnding }: AggregatesPath,
  { daysMax }: { daysMax: number },
): Operation {
  const format = hasEnding
    ? "in the format of the path's ending"
    : "in the format of `Accept`: NDJSON where nothing else is asked for";
  return {
    id: hasEnding ? `${IDS[kind]}File` : IDS[kind],
    summary: hasEnding ? `${SUMMARIES[kind]}, as a file` : SUMMARIES[kind],
    description:
      "A stream, compressed when asked for (gzip, zstd), ordered by package, date, breakdown and value. A failure " +
      "halfway breaks the connection; `TE: trailers` has a complete answer end with the number of its rows, " +
      "`X-Row-Count`, and is not answered with zstd.",
    ...(hasEnding && { path: ENDING }),
    query: { ...rangeQuery({ daysMax }), ...QUERY },
    answers: {
      200: {
        description: `One aggregate a line or a row, ${format}`,
        schema: AGGREGATE_V1,
        example: EXAMPLE,
        types: Object.values(MEDIA_TYPES),
        headers: EXPORT_HEADERS,
      },
    },
    problems: [...PACKAGE_PROBLEMS, "export-not-granted", "invalid-date", "empty-range", "range-too-long"],
  };
}

const ENDING = {
  format: {
    schema: { type: "string", enum: EXPORT_FORMATS },
    description: "The format; `Accept` is not read",
    example: "parquet",
  },
};

const QUERY = {
  breakdown: {
    schema: { type: "string", example: "total,country" },
    description: `Only these, separated by commas: ${BREAKDOWNS.join(", ")}`,
  },
  package: { schema: { type: "string" }, description: "Only this package, by id or name" },
  ...PACKAGE_QUERY,
  fields: {
    schema: { type: "string", enum: ["name"] },
    description: "Adds `package_name` to the lines of NDJSON; the other formats always have it",
  },
};
