import { Random } from "../../../deploy/demo/random.js";

/** One import line, and what statistics must count it as. */
export interface KnownLine {
  /** `YYYY-MM-DD`. */
  date: string;
  key: string;
  address: string;
  country: string;
  /** Empty for none. */
  company: string;
  version: string;
  agent: string;
  mirror: string;
}

/** Of `DashboardWorld`: the names that its lookups have for networks of the lines. */
export const NETWORKS = "test/fixtures/networks/few-networks.csv";
/** Prefixes of the test database of places and of `NETWORKS`, to which a number is appended. */
const PLACES: readonly (readonly [prefix: string, country: string, company?: string])[] = [
  ["2a02:d180::", "DE"],
  ["2a02:d340::", "FR"],
  ["141.113.0.", "", "Mercedes-Benz"],
  ["2a02:d3c0::", "GB"],
  ["3.5.140.", ""],
  ["2001:240::", "JP"],
  ["2a02:cf40::", "NO"],
  ["2a02:d040::", "SE"],
  ["214.0.0.", "SG"],
  ["214.0.1.", "AU"],
];
const AGENTS = [
  "docker/27.3.1 go/go1.22.7 os/linux arch/amd64",
  "docker/28.1",
  "containerd/2.0",
  "curl/8.5.0",
];
const VERSIONS = ["1.0.0", "1.1.0", "1.2.0-rc.1", "2.0.0"];
const MIRRORS = ["eu", "us", ""];
const CLIENTS_EACH = 200;
const DAY_MS = 86_400_000;

/**
 * Lines of as many days up to and including that of `now`, the same for the same seed. The first places, agents and
 * versions are the frequent ones.
 */
export function knownLines({
  count,
  seed,
  days,
  now,
}: Record<"count" | "seed" | "days", number> & { now: Date }): KnownLine[] {
  const random = new Random(seed);
  const one = <Value>(values: readonly Value[]) =>
    values[Math.min(random.below(values.length), random.below(values.length))] as Value;
  const today = Math.floor(now.getTime() / DAY_MS);
  return Array.from({ length: count }, (_, index) => {
    const [prefix, country, company = ""] = one(PLACES);
    // A curve, and less at weekends.
    const age = Math.floor(days * random.share() ** 1.3);
    const weekday = new Date((today - age) * DAY_MS).getUTCDay();
    const day = today - age - (weekday % 6 === 0 && random.chance(0.5) ? 2 : 0);
    return {
      date: new Date(day * DAY_MS).toISOString().slice(0, 10),
      key: `line-${index}`,
      address: `${prefix}${1 + random.below(CLIENTS_EACH)}`,
      country,
      company,
      version: one(VERSIONS),
      agent: one(AGENTS),
      mirror: one(MIRRORS),
    };
  });
}

export function bodyOf(lines: readonly KnownLine[]): string {
  return lines
    .map(({ date, key, address, version, agent, mirror }) =>
      JSON.stringify({
        $time: `${date}T00:00:01Z`,
        $unique_id: key,
        $remote_address: address,
        $user_agent: agent,
        $version: version,
        ...(mirror !== "" && { mirror }),
      }),
    )
    .join("\n");
}

/** What tiles show of these lines. */
export function sumsOf(lines: readonly KnownLine[]) {
  return {
    Downloads: lines.length,
    "Unique IPs": new Set(lines.map(({ address }) => address)).size,
    Companies: new Set(lines.flatMap(({ company }) => company || [])).size,
  };
}
