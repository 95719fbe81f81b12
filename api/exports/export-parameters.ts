import { DATE } from "../../schemas/formats.js";
import type { Parameter } from "../http/operation.js";

export function rangeQuery({ daysMax }: { daysMax: number }): Record<"startDate" | "endDate", Parameter> {
  return {
    startDate: { schema: DATE, required: true, description: "The first UTC day", example: "2026-11-01" },
    endDate: {
      schema: DATE,
      required: true,
      description: `The first UTC day that is left out; at most ${daysMax} days later`,
      example: "2026-11-02",
    },
  };
}

/** The answer headers of every export. */
export const EXPORT_HEADERS = {
  "X-Complete-Through": {
    schema: { type: "string", format: "date-time" },
    required: true,
    description:
      "Whatever was imported before is in the answer; live events follow their requests by seconds",
  },
};
