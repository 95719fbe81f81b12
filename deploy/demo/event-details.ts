import { DAY_MS } from "../../schemas/date-range.js";
import type { Random } from "./random.js";
import type { Audience } from "./user-agents.js";

/**
 * The part of a line about the download: `,"$version":...`, custom variables, the page, the type. `progress` is how far its
 * time is in a period in which releases come one after another, from 0 to 1.
 */
export function detailsText(audience: Audience, random: Random, progress = 1): string {
  const version = random.chance(0.93)
    ? `,"$version":"${random.pickSkewed(releasedBy(VERSIONS[audience], progress))}"`
    : "";
  return (
    (audience === "pixel" ? "" : version) + variablesText(audience, random) + rareFields(audience, random)
  );
}

/** The newest first. */
export const RELEASES = [
  "2.4.1",
  "2.4.0",
  "2.3.7",
  "2.3.6",
  "2.2.0",
  "2.1.4",
  "1.9.12",
  "1.8.3",
  "3.0.0-rc.1",
  "2.0.0",
];
const TAGS = [
  "latest",
  "2.4.1",
  "2.4",
  "2.4.1-alpine",
  "2.3.7",
  "2",
  "2.3",
  "edge",
  "2.2.0-bookworm",
  "1.9.12",
];
const DIGEST = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const VERSIONS: Record<Audience, readonly string[]> = {
  docker: [...TAGS, DIGEST],
  npm: RELEASES,
  hackage: RELEASES,
  pypi: RELEASES,
  other: RELEASES.map((release) => `v${release}`),
  pixel: [],
};

/** How far a period is when the newest version comes, the one before it, and the one before that. */
export const RELEASED_AT = [0.7, 0.4, 0.15];

/** Tags of a release, such as `2.4.1-alpine`, come with it. */
function releasedBy(versions: readonly string[], progress: number): readonly string[] {
  const left = RELEASES.slice(0, RELEASED_AT.filter((from) => progress < from).length);
  return versions.filter((version) => !left.some((release) => version.includes(release)));
}

function variablesText(audience: Audience, random: Random): string {
  if (audience === "other") return fileVariables(random);
  // Variables of other package types are stored with the event, without a breakdown.
  return random.chance(0.1) ? `,"pipeline":"build-${random.below(40)}"` : "";
}

const CHANNELS = [
  "stable",
  "stable",
  "beta",
  "nightly",
  "größte Auswahl",
  "\\u5b89\\u5b9a\\u7248",
  'say "hi"\\r\\nthere',
];
const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "win-x64", "linux-musl-x64"];

function fileVariables(random: Random): string {
  const form = random.below(10);
  const target = `,"os":"${random.pickSkewed(TARGETS)}"`;
  const channel = `,"channel":"${random.pickSkewed(CHANNELS).replaceAll('"', '\\"')}"`;
  if (form < 5) return target + channel;
  if (form < 6)
    return `${target},"build":{"number":${random.below(30)},"by":{"team":"core-${random.below(4)}"}}`;
  if (form < 7) return `${target},"features":["tls","http${1 + random.below(3)}"],"campaign":null`;
  if (form < 8)
    return `${target},"signed":${random.chance(0.8)},"ratio":${random.pick(["0.5", "1.50", "1e3"])}`;
  if (form < 9) return `${channel},"installer.kind":"script"`;
  return "";
}

const PAGES = [
  "https://docs.example.org/install",
  "https://docs.example.org/quickstart?from=readme#linux",
  "https://github.com/example/toolkit",
  "https://www.example.org/blog/höher-schneller",
];
const TYPES = ["package-download", "chart-pull", "mirror-sync"];

function rareFields(audience: Audience, random: Random): string {
  const pageOften = audience === "pixel" ? 0.95 : 0.05;
  const spelling = random.chance(0.5) ? "$referer" : "$referrer";
  const page = random.chance(pageOften) ? `,"${spelling}":"${random.pickSkewed(PAGES)}"` : "";
  const type = random.chance(0.03) ? `,"$type":"${random.pick(TYPES)}"` : "";
  const domain = random.chance(0.05) ? ',"$domain":"dl.example.org"' : "";
  return page + type + domain;
}

export interface Period {
  firstDay: number;
  days: number;
  /** Later days have more events. */
  isGrowing: boolean;
}

export function periodFrom(from: string, days: number, isGrowing = false): Period {
  const firstDay = Date.parse(`${from}T00:00:00Z`);
  if (Number.isNaN(firstDay)) throw new TypeError(`"${from}" is not a date of the form YYYY-MM-DD`);
  if (!Number.isInteger(days) || days < 1)
    throw new TypeError(`a period must have at least one whole day, but has ${days}`);
  return { firstDay, days, isGrowing };
}

/** A random time in milliseconds since the epoch: more often at noon than at night, less often at weekends. */
export function pickTime(period: Period, random: Random): number {
  const day = pickDay(period, random);
  return day + Math.floor(((random.share() + random.share()) / 2) * DAY_MS);
}

/** With it the last day has eight times as many events as a day of the first tenth. */
const GROWTH = 0.6;

function pickDay({ firstDay, days, isGrowing }: Period, random: Random): number {
  const any = () => (isGrowing ? Math.floor(random.share() ** GROWTH * days) : random.below(days));
  const day = firstDay + any() * DAY_MS;
  const weekday = (day / DAY_MS + THURSDAY) % 7;
  const weekend = weekday === 0 || weekday === 6;
  return weekend && random.chance(0.5) ? firstDay + any() * DAY_MS : day;
}

/** The weekday of 1 January 1970, counted from Sunday. */
const THURSDAY = 4;

/** The JSON text of `time` in one of the forms that `$time` accepts. Some forms have no fraction of a second. */
export function timeText(time: number, random: Random): string {
  const form = random.below(100);
  if (form < 62) return `"${isoText(time)}Z"`;
  if (form < 70) return `"${isoText(time, 7_200_000)}+02:00"`;
  if (form < 76) return `"${isoText(time, -19_800_000)}-05:30"`;
  if (form < 82) return `"${isoText(time).slice(0, 19)}"`;
  if (form < 84) return `"${isoText(time).slice(0, 10)}"`;
  if (form < 89) return String(Math.floor(time / 1000));
  if (form < 91) return (time / 1000).toFixed(3);
  if (form < 96) return String(time);
  if (form < 98) return `"${Math.floor(time / 1000)}"`;
  return `"${time}"`;
}

/** Formats `YYYY-MM-DDThh:mm:ss.sss` at `offsetMs` ahead of UTC. Ten times as fast as `Date`. */
function isoText(time: number, offsetMs = 0): string {
  const local = time + offsetMs;
  const day = Math.floor(local / DAY_MS);
  const ms = local - day * DAY_MS;
  const hour = TWO_DIGITS[Math.floor(ms / 3_600_000)] as string;
  const minute = TWO_DIGITS[Math.floor(ms / 60_000) % 60] as string;
  const second = TWO_DIGITS[Math.floor(ms / 1000) % 60] as string;
  return `${dayText(day)}T${hour}:${minute}:${second}.${String(ms % 1000).padStart(3, "0")}`;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
const dayTexts = new Map<number, string>();

function dayText(day: number): string {
  const known = dayTexts.get(day);
  if (known !== undefined) return known;
  const text = new Date(day * DAY_MS).toISOString().slice(0, 10);
  dayTexts.set(day, text);
  return text;
}
