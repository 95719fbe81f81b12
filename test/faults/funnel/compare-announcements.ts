import type { Stage } from "../../../schemas/records/funnel.js";
import { readAnnouncement, type Announcement, type Received } from "../../support/api/receivers.js";

/** A change of stage as it is kept. */
export interface RecordedChange {
  domain: string;
  oldStage: Stage | null;
  newStage: Stage;
  /** As `created_at` of an event has it. */
  changedAt: string;
}

/** Requests that came to one webhook of an owner. */
export interface Arrivals {
  owner: string;
  secret: string;
  received: readonly Received[];
}

export interface AnnouncementFaults {
  /** Changes that never arrived. */
  missing: number;
  /** Changes that arrived under two ids, or twice under one. */
  twice: number;
  /** Changes that arrived and are not kept. */
  unheardOf: number;
  /** Ids that did not always come with the same bytes. */
  unstable: number;
  /** Arrivals whose signatures do not hold. */
  unsigned: number;
  /** Events of another form: over 100 companies, or not of this owner. */
  malformed: number;
}

export interface Comparison extends AnnouncementFaults {
  /** Companies announced, over distinct ids. */
  announced: number;
  events: number;
}

const COMPANIES_MAX = 100;

/** Holds what arrived at one webhook, maybe several times, against the changes that are kept: each has one event. */
export function compareAnnouncements(
  changes: readonly RecordedChange[],
  { owner, secret, received }: Arrivals,
): Comparison {
  const { events, unstable, unsigned } = distinctEvents(received, secret);
  const kept = new Set(changes.map(keyOf));
  const told = new Set<string>();
  const faults = { missing: 0, twice: 0, unheardOf: 0, unstable, unsigned, malformed: 0 };
  let announced = 0;
  for (const event of events) {
    const { companies } = event.data;
    if (companies.length > COMPANIES_MAX || companies.length === 0 || event.owner !== owner)
      faults.malformed += 1;
    for (const key of keysOf(event)) {
      announced += 1;
      if (told.has(key)) faults.twice += 1;
      else if (!kept.has(key)) faults.unheardOf += 1;
      told.add(key);
    }
  }
  faults.missing = [...kept].filter((key) => !told.has(key)).length;
  return { ...faults, announced, events: events.length };
}

function distinctEvents(received: readonly Received[], secret: string) {
  const bodies = new Map<string, string>();
  const unstable = new Set<string>();
  const events: Announcement[] = [];
  let unsigned = 0;
  for (const one of received) {
    const event = readSigned(one, secret);
    if (event === undefined || event.id !== one.id) {
      unsigned += 1;
      continue;
    }
    const body = one.body.toString("latin1");
    const before = bodies.get(event.id);
    if (before === undefined) events.push(event);
    else if (before !== body) unstable.add(event.id);
    bodies.set(event.id, before ?? body);
  }
  return { events, unstable: unstable.size, unsigned };
}

function readSigned(received: Received, secret: string): Announcement | undefined {
  try {
    return readAnnouncement(received, secret);
  } catch {
    return undefined;
  }
}

const keyOf = ({ domain, oldStage, newStage, changedAt }: RecordedChange) =>
  JSON.stringify([domain, oldStage, newStage, changedAt]);

/** The first time there is no old stage, not even null. */
function keysOf({ created_at: changedAt, data }: Announcement): string[] {
  return data.companies.map(({ domain, new_stage: newStage, ...rest }) =>
    keyOf({
      domain,
      newStage,
      changedAt,
      oldStage: "old_stage" in rest ? (rest.old_stage ?? ("null" as Stage)) : null,
    }),
  );
}
