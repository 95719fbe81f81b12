import { RANGE_DAYS_MAX } from "../../../../schemas/date-range.js";
import { DATE } from "../../../../schemas/formats.js";
import type { Parameters } from "./query-parameters.js";

/** A range that a query must have. */
export function rangeQuery({ daysMax }: { daysMax: number }) {
  return {
    startDate: {
      schema: DATE,
      required: true,
      description: "Start of the range (UTC day, inclusive)",
      example: "2026-11-01",
    },
    endDate: {
      schema: DATE,
      required: true,
      description: `End of the range (UTC day, exclusive); at most ${daysMax} days after startDate`,
      example: "2026-11-02",
    },
  } as const satisfies Parameters;
}

/** A range that a query may have: both days or neither. */
export const RANGE_QUERY = {
  startDate: {
    schema: DATE,
    description: "Start of the range (UTC day, inclusive). Requires `endDate`",
    example: "2026-08-01",
  },
  endDate: {
    schema: DATE,
    description: `End of the range (UTC day, exclusive); at most ${RANGE_DAYS_MAX} days after startDate`,
    example: "2026-09-01",
  },
} as const;
