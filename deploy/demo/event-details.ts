import type { Random } from "./random.js";
import type { Audience } from "./user-agents.js";

/** The part of a line about the download: `,"$version":...`, custom variables, the page, the type. */
export function detailsText(audience: Audience, random: Random): string {
  const version = random.chance(0.93) ? `,"$version":"${random.pickSkewed(VERSIONS[audience])}"` : "";
  return (
    (audience === "pixel" ? "" : version) + variablesText(audience, random) + rareFields(audience, random)
  );
}

const RELEASES = [
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
