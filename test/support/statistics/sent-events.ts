import type { Random } from "../../../deploy/demo/random.js";
import type { KnownArtifact } from "../imports/recount-line.js";

/** An event as it is sent, with what enrichment makes of it. */
export interface SentEvent {
  artifact: KnownArtifact;
  key: string;
  /** `YYYY-MM-DD`. */
  day: string;
  place: (typeof PLACES)[number];
  agent: (typeof AGENTS)[number];
  version: string;
  page: string;
  variables: Readonly<Record<string, string>>;
}

const MERCEDES = {
  country: "DE",
  company: ["Mercedes-Benz", "mercedes-benz.com"],
  cloud: ["", ""],
} as const;
const NOWHERE = { country: "", company: ["", ""], cloud: ["", ""] } as const;

/** Addresses, and what the bundled data knows of them. */
export const PLACES = [
  { ...NOWHERE, address: "" },
  { ...NOWHERE, address: "127.0.0.1" },
  { ...MERCEDES, address: "141.113.0.20" },
  { ...MERCEDES, address: "141.113.0.21" },
  {
    address: "3.5.140.2",
    country: "KR",
    company: ["", ""],
    cloud: ["Amazon Web Services", "aws.amazon.com"],
  },
  { address: "2a00:1450:4001:80b::200e", country: "DE", company: ["Google", "google.com"], cloud: ["", ""] },
] as const;

export const [UNKNOWN_PLACE] = PLACES;

const AGENTS = [
  ["", "", "", "", ""],
  ["docker/27.3.1 go/go1.22.7 os/linux arch/amd64", "docker", "27.3.1", "Linux", ""],
  ["curl/8.9.1", "curl", "8.9.1", "", ""],
  ["curl/8.10.0", "curl", "8.10.0", "", ""],
  ["Go-http-client/2.0", "go", "", "", ""],
  [
    "npm/10.8.2 node/v20.18.0 darwin arm64 workspaces/false ci/github-actions",
    "npm",
    "10.8.2",
    "macOS",
    "ci",
  ],
  ["verdaccio/5.33.0", "verdaccio", "5.33.0", "", "mirror"],
  ["Twitterbot/1.0", "Twitterbot", "1.0", "", "bot"],
].map(([agent = "", client = "", version = "", platform = "", automated = ""]) => ({
  agent,
  client: [client, version] as const,
  platform,
  automated,
}));

const PAGES = [
  "",
  "https://docs.example.org/",
  "https://docs.example.org/install",
  "https://blog.example.org/?a=1",
];

const RARE_VERSIONS = [
  ..."1.9 1.10 v1.10 1.10-alpine 1.10.0-rc.2 1.10.0-rc.10 1.2.3.4 01.2 1!2.0.post1 2024.10.1 3.9-slim-bookworm".split(
    " ",
  ),
  ..."latest main 4f2a1b7 🚀 it's jq-1.7.1 1.x".split(" "),
];

export function sentEvent(
  random: Random,
  { artifact, key, day }: Pick<SentEvent, "artifact" | "key" | "day">,
): SentEvent {
  return {
    artifact,
    key,
    day,
    place: random.pickSkewed(PLACES, 3),
    agent: random.pickSkewed(AGENTS, 3),
    version: random.chance(0.8) ? random.pick(["", "1.0", "1.1", "2.0-rc.1"]) : random.pick(RARE_VERSIONS),
    page: random.pick(PAGES),
    variables: random.chance(0.7)
      ? { channel: random.pick(["stable", "beta"]), os: random.pick(["linux", "mac", ""]) }
      : {},
  };
}

export function lineOf({ artifact, key, day, place, agent, version, page, variables }: SentEvent): string {
  return `${JSON.stringify({
    [`$${artifact.kind}`]: artifact.id,
    $unique_id: key,
    $time: `${day}T12:00:00Z`,
    ...(place.address !== "" && { $remote_address: place.address }),
    $user_agent: agent.agent,
    $version: version,
    $referrer: page,
    ...variables,
  })}\n`;
}
