import { ADOPTION, type Adoption } from "../../../schemas/contracts/adoption.js";
import { DAYS_INTERVALS, VARIABLE } from "../../../schemas/contracts/statistics.js";
import type { Operation } from "../../base/http/route.js";
import {
  CSV_IS_EXPORT,
  intervalParameter,
  STATISTICS_PROBLEMS,
  STATISTICS_QUERY,
  versionsParameter,
} from "./statistics-operations.js";

const { compare: _compare, pixel: _pixel, package: only, ...shared } = STATISTICS_QUERY;

const USED = { downloads: 12, unique_addresses: 7, share: 0.8 };
const REST = { downloads: 3, unique_addresses: 2, share: 0.2 };

const EXAMPLE: Adoption = {
  start_date: "2026-11-02",
  end_date: "2026-11-09",
  interval: "week",
  complete_through: "2026-11-09T03:51:26.021037Z",
  versions: [
    { version: "1.4.x", first_seen: "2026-03-02", ...USED, end_of_life: "2026-12-31" },
    { version: "other", first_seen: null, ...REST, end_of_life: null },
  ],
  series: [{ date: "2026-11-02", downloads: 15, versions: { "1.4.x": 12, other: 3 } }],
};

export const READ_ADOPTION = {
  id: "readAdoption",
  summary: "Get version adoption of a package",
  description:
    "For each bucket, returns the downloads of the range's ten most downloaded versions, and one number " +
    "for all other downloads, including those without a version. Without filters, they add up to the " +
    "downloads in the statistics for the same range. Unique IP addresses are counted from retained " +
    "events. Each address counts once per version in the whole range, so you cannot add up the numbers " +
    `of shorter ranges.\n\nCSV contains the series, with one row per bucket and version. ${CSV_IS_EXPORT}`,
  query: {
    package: {
      ...only,
      required: true,
      description: "The package (id or name)",
      sentence: "must be the id or name of a single package",
    },
    ...shared,
    interval: intervalParameter("week", DAYS_INTERVALS),
    versions: versionsParameter("minor"),
  },
  queryPrefix: VARIABLE,
  answers: {
    200: {
      description: "Versions and their downloads over time",
      schema: ADOPTION,
      example: EXAMPLE,
      others: {
        "text/csv": {
          schema: { type: "string" },
          example: "date,version,downloads\n2026-11-02,1.4.x,12\n2026-11-02,other,3\n",
        },
      },
    },
  },
  problems: STATISTICS_PROBLEMS,
} as const satisfies Operation;
