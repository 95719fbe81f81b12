import type { VariableSchema } from "./variable-schema.js";

const DAYS = { type: "string", format: "days", mustBe: "a whole number of days from 1 to 36500" } as const;

export const RETENTION_VARIABLES = {
  EVENTS_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning:
      "How long events are kept. They go by whole months, so up to 33 days later, and cannot be restored; the breakdowns " +
      "stay. Set it alike for every role; see [retention](retention.md#events).",
  },
  IMPORT_LOGS_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning: "How long the entries of import logs are kept: what was wrong with which line.",
  },
  REJECTED_LINES_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning:
      "How long the texts of refused lines are kept, at most as long as their entries. They hold addresses as they were sent.",
  },
  DELIVERIES_RETENTION_DAYS: {
    ...DAYS,
    default: "30",
    meaning: "How long webhook deliveries are kept, with the beginnings of the receivers' answers.",
  },
  AUDIT_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning: "How long entries of the audit log are kept.",
  },
} as const satisfies Record<string, VariableSchema>;
