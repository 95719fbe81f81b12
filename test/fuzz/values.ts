import { readFileSync } from "node:fs";
import fc from "fast-check";
import { hostileText, sometimesDamaged } from "./hostile-text.js";

/** The days that most events are of, so that exports of a month have them. */
export const FUZZED_RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };
const RANGE_MS = [Date.parse(FUZZED_RANGE.startDate), Date.parse(FUZZED_RANGE.endDate) - 1] as const;

const momentMs = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: RANGE_MS[0], max: RANGE_MS[1] }) },
  { weight: 1, arbitrary: fc.integer({ min: -1e12, max: 5e12 }) },
);

const zone = fc.constantFrom("Z", "z", "", "+01:00", "-1130", "+14", "+00:00", "-00:00", "+24:00", "+05:60");

const isoTime = fc
  .tuple(momentMs, zone, fc.constantFrom("T", "t", " "), fc.nat({ max: 24 }))
  .map(([ms, offset, separator, cut]) => {
    const text = new Date(ms).toISOString().replace("Z", "").replace("T", separator);
    return text.slice(0, Math.max(10, text.length - cut)) + offset;
  });

const basicTime = isoTime.map((text) => text.replaceAll(/[-:](?=\d\d)/g, ""));

/** A `$time`, right or wrong. */
export const timeValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: momentMs.map((ms) => new Date(ms).toISOString()) },
  { weight: 3, arbitrary: sometimesDamaged(isoTime) },
  { weight: 1, arbitrary: sometimesDamaged(basicTime) },
  { weight: 2, arbitrary: momentMs },
  { weight: 1, arbitrary: momentMs.map((ms) => ms / 1000) },
  { weight: 1, arbitrary: momentMs.map(String) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.double(), fc.maxSafeInteger(), fc.jsonValue({ maxDepth: 1 }), hostileText),
  },
);

/** An address of a client, right or wrong. */
export const addressText: fc.Arbitrary<string> = sometimesDamaged(
  fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((address) => `::ffff:${address}`),
    fc.ipV4Extended(),
    fc.ipV6().map((address) => `${address}%eth0`),
    fc.ipV6().map((address) => `[${address}]:443`),
    fc.constantFrom(
      "141.113.0.20",
      "18.66.22.4",
      "2a00:1450:4001:80b::200e",
      "::",
      "::1",
      "255.255.255.255",
      "fe80::1",
    ),
  ),
);

/** Real user agents, whole and damaged, and texts that are none. */
export const userAgent: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: sometimesDamaged(fc.constantFrom(...readUserAgents())) },
  { weight: 1, arbitrary: hostileText },
);

function readUserAgents(): string[] {
  const file = new URL("../fixtures/user-agents/clients.tsv", import.meta.url);
  const [, ...rows] = readFileSync(file, "utf8").trimEnd().split("\n");
  return rows.map((row) => row.split("\t", 1)[0] ?? "");
}
