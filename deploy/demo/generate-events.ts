import { DAY_MS } from "../../schemas/date-range.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { type ValidFields, brokenLine } from "./broken-lines.js";
import { type DemoClient, clientPool } from "./client-pool.js";
import { type Period, detailsText, periodFrom, pickTime, timeText } from "./event-details.js";
import { Random } from "./random.js";
import type { Audience } from "./user-agents.js";

/** The lines of an NDJSON body without newlines. Some are blank, which `count` does not include. */
export function* generateLines(mix: EventMix): Generator<string> {
  const compose = openComposer(mix);
  const first = mix.startAt ?? 0;
  for (let index = first; index < first + mix.count; index += 1) {
    yield compose(index);
    if (index % 500 === 250) yield index % 1000 === 250 ? "" : " \t";
  }
}

/** The same lines as a body in blocks of about 64 KiB. Lines end with `\n`, some with `\r\n`. */
export function* generateBody(mix: EventMix): Generator<Buffer> {
  let block = "";
  for (const line of generateLines(mix)) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) {
      block += "\n";
      continue;
    }
    yield Buffer.from(`${block}\r\n`);
    block = "";
  }
  if (block.length > 0) yield Buffer.from(block);
}

const BLOCK_CHARACTERS = 64 * 1024;

export interface EventMix {
  seed: number;
  count: number;
  packages: readonly { id: string; libraryType: LibraryType }[];
  pixels?: readonly { id: string }[];
  from: string;
  days: number;
  /** More events on later days, and releases that come one after another. */
  isGrowing?: boolean;
  /** Share of lines with an error or a warning; default 0.02. */
  brokenShare?: number;
  /** Share of lines with the `$unique_id` of an earlier line; default 0.1. */
  overrideShare?: number;
  /** `line`: every line names its artifact, as the multi-artifact path requires; `path`: the path names it. */
  target?: "path" | "line";
  /** Distinct clients of each kind of package; default a sixth of `count`, between 50 and 30,000. */
  clients?: number;
  /** An address for every line, instead of its client's. */
  addressOf?: (random: Random) => string;
  /** Number of the first line. An import that continues the numbers of another also overrides its events. */
  startAt?: number;
}

/** Composes the lines of a mix by number. A line is a pure function of the seed and its number. */
function openComposer(mix: EventMix): (index: number) => string {
  const shared = openShared(mix);
  return (index) => composeLine(shared, index);
}

// Random streams of one line: its kind, its content, the part that overrides keep, its id.
const PLAN = 0;
const CONTENT = 1;
const IDENTITY = 2;
const UNIQUE_ID = 3;

interface DemoArtifact {
  id: string;
  key: "$package" | "$pixel";
  audience: Audience;
}

interface Shared {
  seed: number;
  brokenShare: number;
  overrideShare: number;
  period: Period;
  artifacts: readonly DemoArtifact[];
  pools: ReadonlyMap<Audience, readonly DemoClient[]>;
  onLine: boolean;
  addressOf: EventMix["addressOf"];
}

function openShared(mix: EventMix): Shared {
  const artifacts: DemoArtifact[] = [
    ...mix.packages.map(({ id, libraryType }) => ({ id, key: "$package" as const, audience: libraryType })),
    ...(mix.pixels ?? []).map(({ id }) => ({ id, key: "$pixel" as const, audience: "pixel" as const })),
  ];
  const target = mix.target ?? (artifacts.length === 1 ? "path" : "line");
  if (artifacts.length === 0) throw new TypeError("events need a package or a pixel");
  if (target === "path" && artifacts.length > 1) throw new TypeError("a path names one artifact only");
  const size = mix.clients ?? Math.min(30_000, Math.max(50, Math.floor(mix.count / 6)));
  const audiences = new Set(artifacts.map(({ audience }) => audience));
  return {
    seed: mix.seed,
    brokenShare: mix.brokenShare ?? 0.02,
    overrideShare: mix.overrideShare ?? 0.1,
    period: periodFrom(mix.from, mix.days, mix.isGrowing),
    artifacts,
    pools: new Map(
      [...audiences].map((audience) => [audience, clientPool(audience, { seed: mix.seed, size })]),
    ),
    onLine: target === "line",
    addressOf: mix.addressOf,
  };
}

function composeLine(shared: Shared, index: number): string {
  const plan = planOf(shared, index);
  const random = Random.at(shared.seed, index, CONTENT);
  const fields = validFields(shared, { index, identity: plan.identity, random });
  if (plan.broken) return brokenLine(fields, random);
  return `{${fields.target}${fields.time}${fields.rest}}`;
}

/** `identity`: the number of the line whose `$unique_id` this line repeats; undefined without an id. */
interface Plan {
  broken: boolean;
  identity: number | undefined;
}

/** A pure function, so that an override can find any earlier line. */
function planOf(shared: Shared, index: number): Plan {
  const plan = Random.at(shared.seed, index, PLAN);
  const share = plan.share();
  const broken = share < shared.brokenShare;
  // A broken line with the id of an earlier line must not override that line's event.
  const overrides = broken ? plan.chance(0.5) : share < shared.brokenShare + shared.overrideShare;
  if (overrides) return { broken, identity: overriddenBy(shared, { index, plan }) };
  return { broken, identity: !broken && plan.chance(0.95) ? index : undefined };
}

/** Half of all overrides correct a recent line, the others any line. Some correct an override. */
function overriddenBy(shared: Shared, { index, plan }: { index: number; plan: Random }): number | undefined {
  const reach = plan.chance(0.5) ? Math.min(index, 200) : index;
  for (let earlier = index - 1 - plan.below(reach); earlier >= 0; earlier -= 1) {
    const { broken, identity } = planOf(shared, earlier);
    if (!broken && identity !== undefined) return identity;
  }
  return undefined;
}

interface LinePlan {
  index: number;
  identity: number | undefined;
  random: Random;
}

function validFields(shared: Shared, plan: LinePlan): ValidFields {
  const { random, identity } = plan;
  // Gives the artifact, client and time of the first line with this id. An override keeps or changes them.
  const original = Random.at(shared.seed, identity ?? plan.index, IDENTITY);
  const artifact = artifactOf(shared, { plan, original });
  const { client, time } = clientAndTime(shared, { artifact, plan, original });
  const named = shared.onLine || random.chance(0.05);
  const id = identity === undefined ? "" : uniqueIdField(shared.seed, identity);
  const address = shared.addressOf
    ? `,"$remote_address":"${shared.addressOf(random)}"`
    : ((random.chance(0.2) ? client.addresses.at(-1) : client.addresses[0]) ?? "");
  return {
    target: named ? targetField(artifact, random) : "",
    time: `"$time":${timeText(time, random)}`,
    rest:
      id + address + client.agent + detailsText(artifact.audience, random, progressOf(shared.period, time)),
  };
}

function progressOf({ firstDay, days, isGrowing }: Period, time: number): number {
  return isGrowing ? (time - firstDay) / (days * DAY_MS) : 1;
}

function targetField({ key, id }: DemoArtifact, random: Random): string {
  return `"${key === "$pixel" && random.chance(0.3) ? "$tracking_pixel" : key}":"${id}",`;
}

/** An override has the artifact of its root. A few use the id with another artifact, where it is another event. */
function artifactOf(shared: Shared, { plan, original }: { plan: LinePlan; original: Random }): DemoArtifact {
  const artifact = original.pickSkewed(shared.artifacts);
  return isOverride(plan) && plan.random.chance(0.03) ? plan.random.pick(shared.artifacts) : artifact;
}

function isOverride({ index, identity }: LinePlan): boolean {
  return identity !== undefined && identity !== index;
}

interface Original {
  artifact: DemoArtifact;
  plan: LinePlan;
  original: Random;
}

/** Keeps the share of every client below a third of all downloads. */
const CLIENTS_FLATNESS = 25;

/** An override may repeat its root, or change the hour, the day, the client (and so the country), or everything. */
function clientAndTime(shared: Shared, { artifact, plan, original }: Original) {
  const clients = shared.pools.get(artifact.audience) ?? [];
  const first = {
    client: original.pickSkewed(clients, CLIENTS_FLATNESS),
    time: pickTime(shared.period, original),
  };
  if (!isOverride(plan)) return first;
  const { random } = plan;
  const other = { client: random.pick(clients), time: pickTime(shared.period, random) };
  const change = random.below(5);
  if (change === 0) return first;
  if (change === 1) return { client: first.client, time: startOfDay(first.time) + (other.time % DAY_MS) };
  if (change === 2) return { client: first.client, time: other.time };
  if (change === 3) return { client: other.client, time: first.time };
  return other;
}

function startOfDay(time: number): number {
  return time - (time % DAY_MS);
}

/** Most ids are text, a few are integers. Equal roots have equal ids; other seeds give other ids. */
function uniqueIdField(seed: number, root: number): string {
  const hash = Random.at(seed, root, UNIQUE_ID).uint32();
  if (hash % 20 === 0) return `,"$unique_id":${(seed & 0xfffff) * 0x1_0000_0000 + root}`;
  return `,"$unique_id":"${hash.toString(16)}-${root.toString(36)}"`;
}
