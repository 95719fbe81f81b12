import { deleteEndedSessions } from "../../api/stores/accounts/sessions.js";
import { deleteEndedSignInLinks } from "../../api/stores/accounts/sign-in-links.js";
import { deleteEndedDeadLetters } from "../../api/stores/imports/dead-letters.js";
import { deleteExpiredImportKeys } from "../../api/stores/imports/import-keys.js";
import { deleteEndedHosts } from "../../api/stores/packages/public-hosts.js";
import { deleteOldDeliveries } from "../../api/stores/webhooks/webhook-deliveries.js";
import type { ScheduledJob } from "./start-schedule.js";

/** The scheduled work of the role `jobs`, apart from the funnel. Settlement has no schedule: it follows imports. */
export const SCHEDULED_JOBS: readonly ScheduledJob[] = [
  {
    name: "clean-up",
    schedule: "17 * * * *",
    run: async (pg) => ({
      importKeys: await deleteExpiredImportKeys(pg),
      deadLetters: await deleteEndedDeadLetters(pg),
      sessions: await deleteEndedSessions(pg),
      signInLinks: await deleteEndedSignInLinks(pg),
      hosts: await deleteEndedHosts(pg),
      webhooks: await deleteOldDeliveries(pg),
    }),
  },
];
