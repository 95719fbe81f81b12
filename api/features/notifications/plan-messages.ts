import type { Pool } from "pg";
import type { ClickHouse } from "../../../schemas/shards.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import { passFaultPoint } from "../../../schemas/fault-point.js";
import {
  type NotificationData,
  type PeriodEvent,
  isPeriodEvent,
} from "../../../schemas/contracts/notification-event.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { readCompleteThrough } from "../imports/export-state.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { enqueueWebhookEvent } from "../../base/outbox/webhook-outbox.js";
import { periodKind } from "./events/events.js";
import { gatheredData, readFailures } from "./failures.js";
import { shouldCorrect, shouldNotify } from "./should-notify.js";
import {
  type AnyData,
  type FoundMessage,
  type NewMessage,
  insertGathered,
  insertMessage,
  readLastAsked,
  readLastTold,
  readMessages,
  tellGathered,
  updateChecked,
} from "./messages.js";
import { isDue, lastPeriods } from "./periods.js";
import { type PlanTurn, putTurn, readClock, readTurns } from "./plan-turns.js";
import { readPeriod } from "./read-period.js";
import { type FailureRule, type PeriodRule, type Rule, readRules, ruleKey } from "./rules.js";

export interface PlanDeps {
  pg: Pool;
  clickhouse: ClickHouse;
  signal: AbortSignal;
  now?: () => Date;
  /** How long one owner's turn is, in milliseconds. */
  turnMs?: number;
  /** Called for a rule whose numbers could not be read; the others are gone on with. */
  onFailure: (error: unknown, rule: Rule) => void;
}

/** Owners of different accounts whose rules are gone through at the same time. */
const TURNS_AT_ONCE = 4;
/** A rule that is begun is finished. */
const TURN_MS = 5_000;
/** What is left then is gone on with by the next run. */
const RUN_MS = 240_000;

/**
 * Finds what is to be told, once for each rule and period, and puts it where workers send it from. Answers how many.
 * Owners take turns, the account that waits longest first: one owner's thousands delay nobody else. The rest of an
 * owner's rules is gone on with at its next turn, which may be in the next run.
 */
export async function planMessages(deps: PlanDeps): Promise<number> {
  const { pg, signal, now = () => new Date() } = deps;
  const run: Run = { ...deps, now: now(), since: await readClock(pg), planned: 0 };
  const until = performance.now() + RUN_MS;
  const underWay = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  const begin = (turn: PlanTurn) => {
    const taken = takeTurn(run, turn)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => underWay.delete(turn.accountId));
    underWay.set(turn.accountId, taken);
  };
  let waiting: PlanTurn[] = [];
  for (;;) {
    const isOver = signal.aborted || failures.length > 0 || performance.now() > until;
    const except = [...underWay.keys()];
    if (isOver) waiting = [];
    else if (waiting.length === 0) waiting = await readTurns(pg, { since: run.since, except });
    for (const turn of waiting.splice(0, TURNS_AT_ONCE - underWay.size)) begin(turn);
    if (underWay.size > 0) await Promise.race(underWay.values());
    // A turn that ended meanwhile may have left rules of its account, which were not asked for.
    else if (isOver || except.length === 0) break;
  }
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return run.planned;
}

/** Goes through rules of one owner for as long as a turn is. */
async function takeTurn(run: Run, { ownerId, after }: PlanTurn): Promise<void> {
  const { pg, signal, since, turnMs = TURN_MS, onFailure } = run;
  const until = performance.now() + turnMs;
  const read: Reading["read"] = new Map();
  const rules = await readRules(pg, ownerId);
  for (const rule of rules.filter((each) => after === null || ruleKey(each) > after)) {
    signal.throwIfAborted();
    using limit = limitTime(RULE_MS_MAX, { outer: signal });
    try {
      run.planned += await planRule({ ...run, read, signal: limit.signal }, rule);
    } catch (error) {
      if (signal.aborted) throw error;
      onFailure(error, rule);
    }
    if (performance.now() >= until) return putTurn(pg, { ownerId, since, after: ruleKey(rule) });
  }
  await putTurn(pg, { ownerId, since, after: null });
}

/** The rules of one owner keep nobody else's waiting. */
const RULE_MS_MAX = 60_000;

interface Run extends Omit<PlanDeps, "now"> {
  now: Date;
  /** By the database's clock: when the run began. */
  since: Date;
  planned: number;
}

interface Reading extends Run {
  /** What was read in this turn: several notifications may tell the same. */
  read: Map<string, Promise<NotificationData[PeriodEvent]>>;
}

function planRule(run: Reading, rule: Rule): Promise<number> {
  const { event } = rule;
  return isPeriodEvent(event) ? planPeriods(run, { ...rule, event }) : planFailures(run, { ...rule, event });
}

const HOUR_MS = 3_600_000;

/** Failures of the hour after a message are told together, in the next one. */
async function planFailures({ pg, now }: Reading, rule: FailureRule): Promise<number> {
  const last = await readLastTold(pg, rule);
  if (last !== undefined && now.getTime() - last.getTime() < HOUR_MS) return 0;
  const failures = await readFailures(pg, rule);
  if (failures.length === 0) return 0;
  const isForWebhooks = rule.notificationId === null;
  const isNew = await inTransaction(pg, async (client) => {
    const put = await insertGathered(client, { rule, periods: failures.map(({ period }) => period) });
    const id = put.at(-1)?.id;
    if (id === undefined) return false;
    // Another process may have told some of them meanwhile.
    const fresh = new Set(put.map(({ period }) => period));
    const data = gatheredData(failures.filter(({ period }) => fresh.has(period)));
    await tellGathered(client, { id, state: isForWebhooks ? "sent" : "pending", data });
    if (isForWebhooks) await enqueue(client, rule, data);
    return true;
  });
  if (isNew) passFaultPoint("notification-planned");
  return Number(isNew);
}

async function planPeriods(run: Reading, rule: PeriodRule): Promise<number> {
  const { pg, now } = run;
  const completeThrough = await readCompleteThrough(pg, rule.ownerId);
  const due = lastPeriods(periodKind(rule.event).unit, now).filter((period) =>
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

async function planFirst(run: Reading, rule: PeriodRule, range: DateRange): Promise<number> {
  const data = await readOnce(run, rule, range);
  const state = shouldNotify(rule.event, data) ? "pending" : "nothing";
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
  run: Reading,
  rule: PeriodRule,
  { range, told }: { range: DateRange; told: FoundMessage },
): Promise<number> {
  const { pg } = run;
  const { event } = rule;
  const now = await readOnce(run, rule, range);
  const completeThrough = now.complete_through;
  const before = told.data as NotificationData[PeriodEvent];
  if (told.state === "nothing" && shouldNotify(event, now))
    return putLate(pg, { rule, id: told.id, data: now });
  const isWorthIt = told.state === "sent" && shouldCorrect(event, before, now);
  const data = { ...now, correction: true };
  const period = range.startDate;
  const corrects = told.id;
  const put = isWorthIt
    ? await putMessage(pg, { rule, period, corrects, state: "pending", data, completeThrough })
    : 0;
  await updateChecked(pg, { id: told.id, completeThrough });
  return put;
}

function readOnce({ read, ...reading }: Reading, rule: PeriodRule, range: DateRange) {
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
