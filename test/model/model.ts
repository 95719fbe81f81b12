import { TRUSTED_MS } from "../../enrich/lookups/artifact-cache.js";
import { classify, isEngaged, NEVER_SEEN } from "../../aggregate/funnel/decide-company.js";
import { DAY_MS } from "../../schemas/date-range.js";
import type { Stage, StageBefore } from "../../schemas/records/funnel.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { type DayActivity, stageFacts } from "../support/funnel/stage-facts.js";
import { type SentEvent, sentEvent } from "../support/statistics/sent-events.js";
import type { Random } from "../../deploy/demo/random.js";

/** All that an owner has, in plain lists: what the service answers must follow from it. */
export interface Model {
  /** The pixel among them. */
  artifacts: ModelArtifact[];
  /** In the order of their receipt. */
  imports: ModelImport[];
  /** Events of live requests; none overrides another. */
  collected: SentEvent[];
  stages: Map<string, ModelCompany>;
  changes: ModelChange[];
}

export interface ModelArtifact extends KnownArtifact {
  name: string;
  /** A time of `performance.now()`; absent while it is there. */
  deletedAt?: number;
}

export interface ModelImport {
  id: string;
  events: readonly SentEvent[];
  /** Nothing of it counts. */
  gone: boolean;
  /** The batch that was in hand is still stored, and its record says so then. */
  aborted: boolean;
  retracted: boolean;
  /** Addresses whose events were erased. */
  erased: Set<string>;
  /** Lines that are refused; undefined where it depends on when one of its packages was deleted. */
  refused: number | undefined;
}

/** With the stages that were announced, and the activity before the day of the last run. */
interface ModelCompany extends StageBefore {
  announced: Stage[];
  past: string;
}

export interface ModelChange {
  domain: string;
  old_stage?: Stage;
  new_stage: Stage;
}

/** The live events: of each unique id, the last that was received and neither retracted nor erased. */
export function liveEvents({ imports, collected, ...model }: Model): SentEvent[] {
  const latest = new Map<string, SentEvent>();
  for (const { events, erased } of imports.filter(({ gone }) => !gone))
    for (const event of events.filter(({ place }) => !erased.has(place.address)))
      latest.set(`${event.artifact.id} ${event.key}`, event);
  const kept = new Set(keptArtifacts(model).map(({ id }) => id));
  return [...latest.values(), ...collected].filter(({ artifact }) => kept.has(artifact.id));
}

/** Those that were not deleted. */
export function keptArtifacts({ artifacts }: Pick<Model, "artifacts">): ModelArtifact[] {
  return artifacts.filter(({ deletedAt }) => deletedAt === undefined);
}

/** Whether enrichment may still trust what it knew of a package before: then lines of it are imported. */
export function wasJustDeleted({ deletedAt }: ModelArtifact): boolean {
  return deletedAt !== undefined && performance.now() - deletedAt < TRUSTED_MS;
}

export function deletedIn(artifacts: readonly ModelArtifact[], id: string): boolean {
  return artifacts.some((each) => each.id === id && each.deletedAt !== undefined);
}

/** A run of the funnel now: moves companies, and notes what is announced. */
export function computeStages(model: Model): void {
  const events = liveEvents(model);
  const today = Math.floor(Date.now() / DAY_MS);
  const seen = events.map(({ place }) => place.company[1]).filter((domain) => domain !== "");
  for (const domain of new Set([...model.stages.keys(), ...seen])) {
    const activity = events
      .filter(({ place }) => place.company[1] === domain)
      .map(({ artifact: { kind }, day }) => ({
        day: Date.parse(day) / DAY_MS,
        kind,
        importance: "medium" as const,
        total: 1,
      }));
    const known = model.stages.get(domain) ?? { ...NEVER_SEEN, announced: [], past: "[]" };
    const past = JSON.stringify(
      activity
        .filter(({ day }) => day < today)
        .map(textOf)
        .sort(),
    );
    const isDue = past !== known.past;
    const before = isDue && known.announced.length === 0 ? NEVER_SEEN : known;
    const stage = classify(stageFacts(activity, today), before)?.stage ?? known.stage;
    const { announced } = known;
    if (stage !== null && stage !== known.stage) {
      announced.push(stage);
      const from = known.stage !== null && { old_stage: known.stage };
      model.changes.push({ domain, ...from, new_stage: stage });
    }
    const engaged = known.engaged || (stage !== null && isEngaged(stage));
    const placed = isDue ? replay({ activity, today, announced, stage }) : { stage, engaged };
    if (placed.stage === null && activity.length === 0) model.stages.delete(domain);
    else model.stages.set(domain, { ...placed, announced, past });
  }
}

const textOf = ({ day, kind }: DayActivity) => `${day} ${kind}`;

interface Replayed {
  activity: readonly DayActivity[];
  today: number;
  announced: readonly Stage[];
  stage: Stage | null;
}

/** The days before today, one after another. Without an announcement, the last of their stages is the company's. */
function replay({ activity, today, announced, stage }: Replayed): StageBefore {
  let past = NEVER_SEEN;
  for (let day = today - DAYS - 1; day < today; day += 1) {
    const placed = classify(stageFacts(activity, day), past)?.stage;
    if (placed !== undefined) past = { stage: placed, engaged: past.engaged || isEngaged(placed) };
  }
  const engaged = past.engaged || announced.some((each) => each !== "interest");
  return { stage: announced.length > 0 ? stage : past.stage, engaged };
}

/** So few ids that many events override others, of other imports and of the same. */
const IDS = 40;
const DAYS = 85;

export function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

/** An event of an import, of one of the last days. */
export function drawEvent(random: Random, artifacts: readonly ModelArtifact[]): SentEvent {
  return sentEvent(random, {
    artifact: random.pick(artifacts),
    key: `id-${random.below(IDS)}`,
    day: dayBefore(1 + random.belowSkewed(DAYS, 20)),
  });
}

/** An event of a live request: of today, by somebody with an address of their own. */
export function drawCollected(random: Random, artifact: ModelArtifact): SentEvent {
  for (;;) {
    const drawn = sentEvent(random, { artifact, key: "", day: dayBefore(0) });
    if (drawn.place.country === "") continue;
    const version = artifact.kind === "package" ? random.pick(["1.0", "1.1"]) : "";
    const variables =
      artifact.kind === "package" ? { version, channel: random.pick(["stable", "beta"]) } : {};
    return { ...drawn, version, variables };
  }
}
