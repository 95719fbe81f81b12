import type { FailureEvent, NotificationData } from "../../schemas/contracts/notification-data.js";
import { NIL_UUID } from "../../schemas/formats.js";

const ONE = { failures: 1, others: [] };

/** For looks at a message about a failure while there is none. */
export const EXAMPLES: Pick<NotificationData, FailureEvent> = {
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
    reason: "This is an example: no webhook of yours was disabled.",
    ...ONE,
  },
  "source-failed": {
    source: NIL_UUID,
    kind: "npm",
    name: "an example",
    error: "This is an example: no source of yours has failed.",
    ...ONE,
  },
};
