import { removeEvents, removeImportLogs } from "../../aggregate/retention/remove-old-rows.js";
import { NOTHING_REMOVED, type Removed } from "../../aggregate/retention/delete-rows.js";
import { deleteOldAuditEntries } from "../../api/base/access/audit-entries.js";
import { deleteEndedSessions } from "../../api/base/identity/sessions.js";
import { deleteEndedSignInLinks } from "../../api/base/identity/sign-in-links.js";
import { deleteEndedDeadLetters } from "../../api/features/imports/dead-letters.js";
import { deleteExpiredImportKeys } from "../../api/features/imports/start-imports.js";
import { emptyOldSamples } from "../../api/features/imports/import-progress.js";
import { deleteEndedHosts } from "../../api/features/packages/hosts/public-hosts.js";
import { insertLock } from "../../api/base/postgres/insert-lock.js";
import type { Postgres } from "../../api/base/postgres/query.js";
import { openBatches, putRemovedBefore } from "../../api/base/postgres/removed-events.js";
import { deleteOldDeliveries } from "../../api/features/webhooks/webhook-deliveries.js";
import { deleteOldMailCounts } from "../../api/features/notifications/admit-mail.js";
import { deleteOldMessages } from "../../api/features/notifications/messages.js";
import type { Shards } from "../../schemas/shards.js";
import { removableBefore } from "../../schemas/event-retention.js";
import type { Config } from "../config/config.js";
import type { ScheduledJob } from "./start-schedule.js";

/** The kinds of data that the jobs remove: a label of their metrics. */
export const REMOVED_KINDS = [
  "events",
  "import_logs",
  "rejected_lines",
  "deliveries",
  "audit_entries",
  "sessions",
  "sign_in_links",
  "idempotency_keys",
  "dead_letters",
] as const;
export type RemovedKind = (typeof REMOVED_KINDS)[number];

export interface CleanUpDependencies {
  shards: Shards;
  retention: Config["retention"];
  /** Called after each run for each kind, also where nothing was removed. */
  onRemoved: (kind: RemovedKind, removed: Removed) => void;
}

/** The scheduled work of the role `jobs`, apart from the funnel. Settlement has no schedule: it follows imports. */
export function cleanUpJobs(dependencies: CleanUpDependencies): ScheduledJob[] {
  return [
    { name: "clean-up", schedule: "17 * * * *", run: (pg) => cleanUp(pg, dependencies) },
    { name: "retention", schedule: "37 * * * *", run: (pg) => removeOld(pg, dependencies) },
  ];
}

async function cleanUp(pg: Postgres, { retention, onRemoved }: CleanUpDependencies): Promise<object> {
  const counted = (kind: RemovedKind, rows: number) => {
    onRemoved(kind, { rows, bytes: 0 });
    return rows;
  };
  const { deliveriesDays, auditDays } = retention;
  const webhooks = await deleteOldDeliveries(pg, deliveriesDays);
  counted("deliveries", webhooks.deliveries + webhooks.attempts + webhooks.events);
  return {
    importKeys: counted("idempotency_keys", await deleteExpiredImportKeys(pg)),
    deadLetters: counted("dead_letters", await deleteEndedDeadLetters(pg)),
    sessions: counted("sessions", await deleteEndedSessions(pg)),
    signInLinks: counted("sign_in_links", await deleteEndedSignInLinks(pg)),
    hosts: await deleteEndedHosts(pg),
    notificationMessages: await deleteOldMessages(pg),
    mailCounts: await deleteOldMailCounts(pg),
    webhooks,
    ...(auditDays !== undefined && {
      auditEntries: counted("audit_entries", await deleteOldAuditEntries(pg, auditDays)),
    }),
  };
}

async function removeOld(
  pg: Postgres,
  { shards, retention, onRemoved }: CleanUpDependencies,
): Promise<object> {
  const events = await removeOldEvents(pg, { shards, days: retention.eventsDays });
  const { importLogs, rejectedLines } = await removeImportLogs(shards, retention);
  const chunksWithoutSamples = await emptyOldSamples(pg, retention.importLogsDays);
  onRemoved("events", events ?? NOTHING_REMOVED);
  onRemoved("import_logs", importLogs);
  onRemoved("rejected_lines", rejectedLines);
  return { events: events ?? "waiting for a settlement", importLogs, rejectedLines, chunksWithoutSamples };
}

/** The days are closed before their events go: no export may answer with a part of them. */
async function removeOldEvents(
  pg: Postgres,
  { shards, days }: { shards: Shards; days: number | undefined },
): Promise<Removed | undefined> {
  if (days === undefined) return NOTHING_REMOVED;
  const before = removableBefore(Date.now(), days);
  await putRemovedBefore(pg, before);
  return insertLock(pg).whileInserting(async () =>
    removeEvents(shards, { before, openBatches: await openBatches(pg) }),
  );
}
