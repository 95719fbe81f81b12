import type { Pool } from "pg";
import type { ClickHouse } from "../../schemas/shards.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import {
  type NotificationData,
  type PeriodEvent,
  isPeriodEvent,
} from "../../schemas/contracts/notification-data.js";
import type { DateRange } from "../../schemas/date-range.js";
import { readCompleteThrough } from "../imports/export-state.js";
import { inTransaction } from "../postgres/connection.js";
import { enqueueWebhookEvent } from "../webhooks/webhook-outbox.js";
import { readFailures } from "./failures.js";
import { isCorrected, saysSomething } from "./judge-data.js";
import {
  type AnyData,
  type FoundMessage,
  type NewMessage,
  insertMessage,
  readLastAsked,
  readMessages,
  updateChecked,
} from "./messages.js";
import { isDue, lastPeriods } from "./periods.js";
import { readPeriod } from "./read-period.js";
import { type FailureRule, type PeriodRule, type Rule, readRules } from "./rules.js";

export interface PlanDeps {
  pg: Pool;
  clickhouse: ClickHouse;
  signal: AbortSignal;
  now?: () => Date;
  /** Called for a rule whose numbers could not be read; the others are gone on with. */
  onFailure: (error: unknown, rule: Rule) => void;
}

/** Finds what is to be told, once for each rule and period, and puts it where workers send it from. Answers how many. */
export async function planMessages(deps: PlanDeps): Promise<number> {
  const run: Run = { ...deps, now: (deps.now ?? (() => new Date()))(), read: new Map() };
  let planned = 0;
  const rules = await readRules(deps.pg);
  const isOfPeriod = ({ event }: Rule) => isPeriodEvent(event);
  // Those of failures first: they read no events.
  for (const rule of [...rules.filter((rule) => !isOfPeriod(rule)), ...rules.filter(isOfPeriod)]) {
    deps.signal.throwIfAborted();
    const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(RULE_MS_MAX)]);
    try {
      planned += await planRule({ ...run, signal }, rule);
    } catch (error) {
      if (deps.signal.aborted) throw error;
      deps.onFailure(error, rule);
    }
  }
  return planned;
}

/** The rules of one owner keep nobody else's waiting. */
const RULE_MS_MAX = 60_000;

interface Run extends Pick<PlanDeps, "pg" | "clickhouse" | "signal"> {
  now: Date;
  /** What was read in this run: several notifications may tell the same. */
  read: Map<string, Promise<NotificationData[PeriodEvent]>>;
}

function planRule(run: Run, rule: Rule): Promise<number> {
  const { event } = rule;
  return isPeriodEvent(event) ? planPeriods(run, { ...rule, event }) : planFailures(run, { ...rule, event });
}

async function planFailures({ pg }: Run, rule: FailureRule): Promise<number> {
  const failures = await readFailures(pg, rule);
  const known = await readMessages(pg, { rule, periods: failures.map(({ period }) => period) });
  let planned = 0;
  for (const { period, data } of failures) {
    if (known.some((each) => each.period === period)) continue;
    const completeThrough = new Date().toISOString();
    planned += await putMessage(pg, { rule, period, state: "pending", data, completeThrough });
  }
  return planned;
}

async function planPeriods(run: Run, rule: PeriodRule): Promise<number> {
  const { pg, now } = run;
  const completeThrough = await readCompleteThrough(pg, rule.ownerId);
  const due = lastPeriods(rule.event, now).filter((period) =>
    isDue(period, { since: rule.since, completeThrough }),
  );
  if (due.length === 0) return 0;
  const known = await readMessages(pg, { rule, periods: due.map(({ startDate }) => startDate) });
  const toCheck = known.filter((told) => isCheckDue(told, now));
  const changedAt =
    toCheck.length === 0 ? undefined : await readLastAsked(pg, { ownerId: rule.ownerId, completeThrough });
  let planned = 0;
  for (const range of due) {
    const isOfRange = ({ period }: FoundMessage) => period === range.startDate;
    const told = toCheck.find(isOfRange);
    if (!known.some(isOfRange)) planned += await planFirst(run, rule, range);
    else if (told !== undefined && mayHaveChanged(told, { now, changedAt }))
      planned += await planAgain(run, rule, { range, told });
  }
  return planned;
}

async function planFirst(run: Run, rule: PeriodRule, range: DateRange): Promise<number> {
  const data = await readOnce(run, rule, range);
  const state = saysSomething(rule.event, data) ? "pending" : "nothing";
  const completeThrough = data.complete_through;
  return putMessage(run.pg, { rule, period: range.startDate, state, data, completeThrough });
}

const CHECK_MS = 3_600_000;
const CHECK_ANYWAY_MS = 6 * CHECK_MS;

/** A correction is sent once, and looked for at most every hour. */
function isCheckDue({ state, checkedAt, isCorrected: isDone }: FoundMessage, now: Date): boolean {
  if (isDone || (state !== "sent" && state !== "nothing")) return false;
  return now.getTime() - checkedAt.getTime() >= CHECK_MS;
}

/** Every six hours for what changes a period without an import or a retraction, such as late live events and erasures. */
function mayHaveChanged(
  { completeThrough, checkedAt }: FoundMessage,
  { now, changedAt }: { now: Date; changedAt: Date | undefined },
): boolean {
  if (changedAt !== undefined && changedAt >= completeThrough) return true;
  return now.getTime() - checkedAt.getTime() >= CHECK_ANYWAY_MS;
}

/** What was not worth a message may be worth one now. */
async function planAgain(
  run: Run,
  rule: PeriodRule,
  { range, told }: { range: DateRange; told: FoundMessage },
): Promise<number> {
  const { pg } = run;
  const { event } = rule;
  const now = await readOnce(run, rule, range);
  const completeThrough = now.complete_through;
  const before = told.data as NotificationData[PeriodEvent];
  if (told.state === "nothing" && saysSomething(event, now))
    return putLate(pg, { rule, id: told.id, data: now });
  const isWorthIt = told.state === "sent" && isCorrected(event, before, now);
  const data = { ...now, correction: true };
  const period = range.startDate;
  const corrects = told.id;
  const put = isWorthIt
    ? await putMessage(pg, { rule, period, corrects, state: "pending", data, completeThrough })
    : 0;
  await updateChecked(pg, { id: told.id, completeThrough });
  return put;
}

function readOnce({ read, ...reading }: Run, rule: PeriodRule, range: DateRange) {
  const { ownerId, event, packageId, thresholdPercent } = rule;
  const key = JSON.stringify([ownerId, event, packageId, thresholdPercent, range]);
  const known = read.get(key) ?? readPeriod(reading, rule, range);
  read.set(key, known);
  return known;
}

/** Webhooks have an outbox of their own: into it, and nothing here, or neither. */
async function putMessage(pg: Pool, message: NewMessage): Promise<number> {
  const { rule, state } = message;
  const isForWebhooks = rule.notificationId === null && state === "pending";
  const isNew = await inTransaction(pg, async (client) => {
    const put = await insertMessage(client, isForWebhooks ? { ...message, state: "sent" } : message);
    if (put && isForWebhooks) await enqueue(client, rule, message.data);
    return put && state === "pending";
  });
  if (isNew) passFaultPoint("notification-planned");
  return Number(isNew);
}

async function putLate(
  pg: Pool,
  { rule, id, data }: { rule: Rule; id: string; data: NotificationData[PeriodEvent] },
): Promise<number> {
  const isForWebhooks = rule.notificationId === null;
  const completeThrough = data.complete_through;
  return inTransaction(pg, async (client) => {
    const state = isForWebhooks ? "sent" : "pending";
    const put = await updateChecked(client, { id, completeThrough, state, data });
    if (put && isForWebhooks) await enqueue(client, rule, data);
    return Number(put);
  });
}

async function enqueue(
  client: Parameters<typeof enqueueWebhookEvent>[0],
  rule: Rule,
  data: AnyData,
): Promise<void> {
  const { ownerId, event: type } = rule;
  await enqueueWebhookEvent(client, { ownerId, type, data, createdAt: new Date() });
}
