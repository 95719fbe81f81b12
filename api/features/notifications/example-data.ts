import { defaultThreshold } from "../../../schemas/contracts/notification-event.js";
import type {
  FailureEvent,
  ImportFailedData,
  NotificationData,
} from "../../../schemas/contracts/notification-event.js";
import { NIL_UUID } from "../../../schemas/formats.js";

const ONE = { failures: 1, others: [] };

/** For looks at a message about a failure while there is none: one that a rule with this threshold would send. */
export function exampleOf(
  event: FailureEvent,
  { thresholdPercent }: { thresholdPercent: number | null },
): NotificationData[FailureEvent] {
  if (event !== "import-failed") return EXAMPLES[event];
  return failedImport(thresholdPercent ?? defaultThreshold(event) ?? 0);
}

function failedImport(threshold: number): ImportFailedData {
  const example = { ...EXAMPLES["import-failed"], threshold_percent: threshold };
  const refused = Math.floor((example.events_total * threshold) / 100) + 1;
  if (refused <= example.events_failed_to_import) return example;
  if (refused <= example.events_total) return { ...example, events_failed_to_import: refused };
  // No share is too large, but an import that broke off is told whatever the threshold.
  return { ...example, status: "aborted", events_failed_to_import: 0, reason: "upload-interrupted" };
}

const EXAMPLES: Pick<NotificationData, FailureEvent> = {
  "import-failed": {
    import: NIL_UUID,
    status: "done",
    artifact: "an example",
    events_total: 1_200,
    events_failed_to_import: 60,
    threshold_percent: 1,
    reason: "refused-lines",
    ...ONE,
  },
  "webhook-disabled": {
    webhook: NIL_UUID,
    host: "example.org",
    reason: "This is an example. None of your webhooks was disabled.",
    ...ONE,
  },
  "source-failed": {
    source: NIL_UUID,
    kind: "npm",
    name: "an example",
    error: "This is an example. None of your sources has failed.",
    ...ONE,
  },
};
