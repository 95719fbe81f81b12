import type { ImportLogDays } from "../../aggregate/retention/remove-old-rows.js";
import type { Variables } from "./config-schema.js";

/** For how many days each kind of data is kept; without a number for ever. */
export interface RetentionOptions extends ImportLogDays {
  eventsDays?: number;
  deliveriesDays: number;
  auditDays?: number;
}

type RetentionName = Extract<keyof Variables, `${string}_RETENTION_DAYS`>;

export function retentionOptions(variables: Pick<Variables, RetentionName>): RetentionOptions {
  const { EVENTS_RETENTION_DAYS: events, AUDIT_RETENTION_DAYS: audit } = variables;
  return {
    ...(events !== undefined && { eventsDays: Number(events) }),
    importLogsDays: Number(variables.IMPORT_LOGS_RETENTION_DAYS),
    rejectedLinesDays: Number(variables.REJECTED_LINES_RETENTION_DAYS),
    deliveriesDays: Number(variables.DELIVERIES_RETENTION_DAYS),
    ...(audit !== undefined && { auditDays: Number(audit) }),
  };
}
