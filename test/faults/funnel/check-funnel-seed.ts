import type { Receiver } from "../../support/api/receivers.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { type PlannedOwner, ROUND_STAGES } from "./plan-funnel-seed.js";
import type { Client } from "pg";
import { pause } from "../../../schemas/async/pause.js";
import {
  compareAnnouncements,
  type AnnouncementFaults,
  type Comparison,
  type RecordedChange,
} from "./compare-announcements.js";
import type { FunnelWorld } from "./funnel-world.js";
import type { Stage } from "../../../schemas/records/funnel.js";

/** An owner of the seed with its artifacts and the receivers of its webhooks. */
export interface ListeningOwner {
  planned: PlannedOwner;
  image: KnownArtifact;
  docs: KnownArtifact;
  listeners: { secret: string; receiver: Receiver }[];
}

export interface FunnelFaults extends AnnouncementFaults {
  /** Companies that are not where the events lead them, and changes more or fewer than these make. */
  misplaced: number;
  /** Deliveries that did not come to a good end. */
  stuck: number;
}

export interface FunnelVerdict extends FunnelFaults {
  /** Changes that are kept. */
  changes: number;
  /** Companies announced over distinct ids: those of an owner count once, however many webhooks there are. */
  announced: number;
  events: number;
  /** Requests that came to receivers. */
  arrivals: number;
  /** Those that had come before. */
  repeated: number;
  details: string[];
}

/** Waits until everything of the seed is delivered, then holds what arrived against what is kept. */
export async function checkFunnelSeed(
  world: FunnelWorld,
  owners: readonly ListeningOwner[],
): Promise<FunnelVerdict> {
  const names = owners.map(({ planned }) => planned.name);
  await whenDelivered(world, names);
  await world.disarm();
  // A run that is under way may still announce something.
  await pause(QUIET_MS);
  const stuck = await whenDelivered(world, names);
  const planned = owners.map((owner) => owner.planned);
  const misplaced = await countMisplaced(world, stagesAfter(planned, ROUND_STAGES.length - 1));
  const verdict: FunnelVerdict = { ...NOTHING, misplaced, stuck, details: [] };
  for (const owner of owners) await checkOwner(world, owner, verdict);
  await forget(world, names);
  return verdict;
}

const QUIET_MS = 2_500;

const NOTHING = {
  ...{ missing: 0, twice: 0, unheardOf: 0, unstable: 0, unsigned: 0, malformed: 0 },
  ...{ changes: 0, announced: 0, events: 0, arrivals: 0, repeated: 0 },
};

async function checkOwner(
  world: FunnelWorld,
  { planned, listeners }: ListeningOwner,
  verdict: FunnelVerdict,
): Promise<void> {
  const changes = await world.askPostgres((client) => readChanges(client, planned.name));
  const due = planned.rounds.reduce((sum, { companies }) => sum + companies.length, 0);
  verdict.misplaced += Math.abs(changes.length - due);
  verdict.changes += changes.length;
  for (const [nth, { secret, receiver }] of listeners.entries()) {
    const { received } = receiver;
    const found = compareAnnouncements(changes, { owner: planned.name, secret, received });
    addFaults(verdict, found);
    if (nth === 0) verdict.announced += found.announced;
    if (nth === 0) verdict.events += found.events;
    verdict.arrivals += received.length;
    verdict.repeated += received.length - found.events;
    if (FAULTS.some((fault) => found[fault] > 0) || changes.length !== due)
      verdict.details.push(`${planned.name}: ${JSON.stringify({ due, changes: changes.length, ...found })}`);
  }
}

const FAULTS = ["missing", "twice", "unheardOf", "unstable", "unsigned", "malformed"] as const;

function addFaults(verdict: FunnelVerdict, found: Comparison): void {
  for (const fault of FAULTS) verdict[fault] += found[fault];
}

async function readChanges(client: Client, owner: string): Promise<RecordedChange[]> {
  const text = `
    select domain, old_stage as "oldStage", new_stage as "newStage",
      to_char(changed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "changedAt"
    from funnel_changes where owner_id = (select id from owners where name = $1) and not is_past`;
  return (await client.query<RecordedChange>(text, [owner])).rows;
}

/** A claim whose worker was killed ends after 15 s; it may be killed several times. */
const DELIVERED_MS_MAX = 240_000;
const POLL_MS = 100;

/** Waits until nothing is due any more. @returns how many deliveries did not arrive */
async function whenDelivered(world: FunnelWorld, owners: readonly string[]): Promise<number> {
  const text = `
    select count(*) filter (where d.state = 'pending')::int as pending,
      count(*) filter (where d.state <> 'delivered')::int as stuck
    from webhook_deliveries d join webhooks w on w.id = d.webhook_id join owners o on o.id = w.owner_id
    where o.name = any ($1)`;
  const count = async () => {
    const { rows } = await world.askPostgres((client) =>
      client.query<{ pending: number; stuck: number }>(text, [owners]),
    );
    return rows[0] ?? { pending: 0, stuck: 0 };
  };
  for (const deadline = Date.now() + DELIVERED_MS_MAX; ; await pause(POLL_MS)) {
    const { pending, stuck } = await count();
    if (pending === 0 || Date.now() > deadline) return stuck;
  }
}

/** The funnel passes by the owners of the next seed alone. */
async function forget(world: FunnelWorld, owners: readonly string[]): Promise<void> {
  await world.askPostgres(async (client) => {
    for (const table of ["funnel_companies", "packages", "pixels"])
      await client.query(
        `delete from ${table} where owner_id in (select id from owners where name = any ($1))`,
        [owners],
      );
  });
}

const STAGES_MS_MAX = 240_000;
const STAGES_POLL_MS = 100;

/** Waits until every company is where the rounds up to this one lead it; what differs is for the check at the end. */
export async function whenStagesAre(
  world: FunnelWorld,
  owners: readonly PlannedOwner[],
  round: number,
): Promise<void> {
  const wanted = stagesAfter(owners, round);
  for (const deadline = Date.now() + STAGES_MS_MAX; Date.now() < deadline; await pause(STAGES_POLL_MS))
    if ((await countMisplaced(world, wanted)) === 0) return;
}

/** Stages by `owner domain`. */
type Stages = ReadonlyMap<string, Stage>;

/** The stages of the companies after that round. */
function stagesAfter(owners: readonly PlannedOwner[], round: number): Stages {
  const stages = new Map<string, Stage>();
  for (const { name, rounds } of owners)
    for (const { stage, companies } of rounds.slice(0, round + 1))
      for (const { domain } of companies) stages.set(`${name} ${domain}`, stage);
  return stages;
}

/** How many companies of these owners are elsewhere, or should not be there. */
async function countMisplaced(world: FunnelWorld, wanted: Stages): Promise<number> {
  const names = [...new Set([...wanted.keys()].map((key) => key.split(" ", 1)[0]))];
  const text = `
    select o.name || ' ' || c.domain as key, c.stage from funnel_companies c join owners o on o.id = c.owner_id
    where o.name = any ($1)`;
  const { rows } = await world.askPostgres((client) =>
    client.query<{ key: string; stage: Stage }>(text, [names]),
  );
  const right = rows.filter(({ key, stage }) => wanted.get(key) === stage).length;
  return wanted.size - right + (rows.length - right);
}
