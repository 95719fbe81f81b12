import type { Parameters } from "../../base/http/answers/query-parameters.js";
import { STAGE } from "../../../schemas/contracts/funnel.js";
import { DATE } from "../../../schemas/formats.js";
import { COMPANY_SORTS } from "./funnel-companies.js";

const DAYS_MAX = 90;
const SEARCHES_MAX = 20;

export const COMPANY_QUERY = {
  stage: { schema: STAGE, description: "Return only companies at this stage" },
  search: {
    schema: {
      type: "array",
      maxItems: SEARCHES_MAX,
      items: { type: "string", minLength: 1, maxLength: 256 },
    },
    description:
      "Return only companies whose name or domain contains this text, ignoring case. Repeat the parameter to match any " +
      "of several texts",
    sentence: `accepts at most ${SEARCHES_MAX} values of 1 to 256 characters`,
    allows: isDomain,
  },
  sort: {
    schema: { type: "string", enum: COMPANY_SORTS, default: "score" },
    description:
      "Sort order: names from A to Z, everything else in descending order. Equal scores are sorted by " +
      "`downloads_30_days`, other ties by domain",
  },
  package: {
    schema: { type: "string", minLength: 1 },
    description: "Return only companies that have downloaded this package (id or name)",
    sentence: "must be the id or name of a single package",
  },
  first_seen_from: { schema: DATE, description: "Return only companies first seen on or after this UTC day" },
  days: {
    schema: { type: "integer", minimum: 1, maximum: DAYS_MAX },
    description:
      "Add the daily downloads of this many days, up to and including today (JSON and NDJSON only)",
  },
} as const satisfies Parameters;

/** Accepts every name that a company database can contain, and rejects obvious mistakes. */
export function isDomain(text: string): boolean {
  return text.length <= 1_024 && !/[\0\p{Surrogate}]/u.test(text);
}
