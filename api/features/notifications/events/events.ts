import type { FailureEvent, PeriodEvent } from "../../../../schemas/contracts/notification-event.js";
import { monthlyDigest, weeklyDigest } from "./digests.js";
import { downloadsChanged } from "./downloads-changed.js";
import type { FailureKind } from "./failure-kind.js";
import { importFailed } from "./import-failed.js";
import { newCompanies } from "./new-companies.js";
import type { PeriodKind } from "./period-kind.js";
import { sourceFailed } from "./source-failed.js";
import { webhookDisabled } from "./webhook-disabled.js";

const PERIOD_KINDS: { readonly [Event in PeriodEvent]: PeriodKind<Event> } = {
  "weekly-digest": weeklyDigest,
  "monthly-digest": monthlyDigest,
  "new-companies": newCompanies,
  "downloads-changed": downloadsChanged,
};

const FAILURE_KINDS: { readonly [Event in FailureEvent]: FailureKind<Event> } = {
  "import-failed": importFailed,
  "webhook-disabled": webhookDisabled,
  "source-failed": sourceFailed,
};

/** The data that is passed to it must be of the same event. */
export function periodKind(event: PeriodEvent): PeriodKind {
  return PERIOD_KINDS[event] as PeriodKind;
}

/** The data that is passed to it must be of the same event. */
export function failureKind(event: FailureEvent): FailureKind {
  return FAILURE_KINDS[event] as FailureKind;
}
