import type { AggregateV1, Breakdown } from "../../../schemas/contracts/aggregate.js";
import type { Lookups } from "../../../schemas/records/enriched-event.js";
import type { CountedEvent } from "./recount-line.js";

/** AggregateV1 records of package events, ordered by package, date, breakdown, then value. */
export function aggregateEvents(
  events: readonly CountedEvent[],
  lookups: Pick<Lookups, "clients" | "places" | "networks">,
): AggregateV1[] {
  const lines = new Map<string, AggregateV1>();
  const addresses = new Map<string, Set<string>>();
  for (const event of events.filter(({ artifact }) => artifact.kind === "package")) {
    const scope = { package: event.artifact.id, date: new Date(event.time).toISOString().slice(0, 10) };
    for (const value of breakdownsOf(event, lookups)) {
      const key = dayOf(scope) + JSON.stringify(value);
      const line = lines.get(key);
      if (line === undefined) lines.set(key, { ...scope, ...value, total: 1 });
      else line.total += 1;
    }
    const seen = addresses.get(dayOf(scope)) ?? new Set();
    addresses.set(dayOf(scope), event.address === "" ? seen : seen.add(event.address));
  }
  const all = [...lines.values()].map((line) => {
    if (line.breakdown !== "total") return line;
    return { ...line, unique_total: addresses.get(dayOf(line))?.size ?? 0 };
  });
  return sortAggregates(all);
}

function dayOf(scope: { package: string; date: string }): string {
  return `${scope.package} ${scope.date} `;
}

type Value = { breakdown: Breakdown } & Record<string, string>;

/** One value for every breakdown in which the event counts. */
function breakdownsOf(
  event: CountedEvent,
  lookups: Pick<Lookups, "clients" | "places" | "networks">,
): Value[] {
  const { client, clientVersion, platform } = lookups.clients.of(event.userAgent);
  const { country } = event.address === "" ? { country: "" } : lookups.places.of(event.address);
  const network = event.address === "" ? undefined : lookups.networks.of(event.address);
  const variables = event.artifact.libraryType === "other" ? [...event.variables] : [];
  const version = event.artifact.libraryType === "docker" ? event.version : "";
  const values: Value[] = [
    { breakdown: "total" },
    { breakdown: "client", client, client_version: clientVersion },
    {
      breakdown: "cloud_provider",
      ...named("cloud_provider", network?.cloudProvider, network?.cloudProviderDomain),
    },
    { breakdown: "company", ...named("company", network?.company, network?.companyDomain) },
    { breakdown: "country", country },
    { breakdown: "platform", platform },
    { breakdown: "version", version },
  ];
  const known = values.filter((value) => value.breakdown === "total" || Object.values(value)[1] !== "");
  return [
    ...known.map(withoutEmpty),
    ...variables.map(([variable, value]) => ({ breakdown: "variable" as const, variable, value })),
  ];
}

function named(breakdown: string, name = "", domain = ""): Record<string, string> {
  return { [`${breakdown}_name`]: name, [`${breakdown}_domain`]: domain };
}

/** A company without a known domain has no domain field; the same for a client without a version. */
function withoutEmpty(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, text]) => text !== "")) as Value;
}

const VALUE_FIELDS: readonly (keyof AggregateV1)[] = [
  "client",
  "client_version",
  "cloud_provider_name",
  "cloud_provider_domain",
  "company_name",
  "company_domain",
  "country",
  "platform",
  "variable",
  "value",
  "version",
];

/** The order of the export; texts compare by their UTF-8 bytes. */
function sortAggregates(lines: readonly AggregateV1[]): AggregateV1[] {
  const order: (keyof AggregateV1)[] = ["package", "date", "breakdown", ...VALUE_FIELDS];
  return lines
    .map((line) => ({ line, key: order.map((field) => Buffer.from(String(line[field] ?? ""))) }))
    .sort((left, right) => compareKeys(left.key, right.key))
    .map(({ line }) => line);
}

function compareKeys(left: readonly Buffer[], right: readonly Buffer[]): number {
  for (const [index, part] of left.entries()) {
    const order = Buffer.compare(part, right[index] as Buffer);
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * Says how the aggregates that the service answered differ from the recount, or nothing when they are equal. A person
 * reads it in a failed test, so it names the first record that differs and how many do.
 */
export function firstDifference(answered: readonly AggregateV1[], expected: readonly AggregateV1[]): string {
  const wanted = new Map(expected.map((line) => [keyOf(line), line]));
  const given = new Map(answered.map((line) => [keyOf(line), line]));
  const differences = [
    ...expected.filter((line) => !given.has(keyOf(line))).map((line) => `missing: ${JSON.stringify(line)}`),
    ...answered
      .filter((line) => !wanted.has(keyOf(line)))
      .map((line) => `not expected: ${JSON.stringify(line)}`),
    ...expected.flatMap((line) => countDifference(given.get(keyOf(line)), line)),
    ...(given.size < answered.length ? [`a record is answered more than once: ${repeated(answered)}`] : []),
  ];
  const [first] = differences;
  if (first !== undefined) {
    return `${differences.length} of ${expected.length} aggregates differ; first, ${first}`;
  }
  return orderDifference(answered);
}

/** Which record it is, whatever its numbers and the order of its fields. */
function keyOf({ total: _total, unique_total: _unique, ...rest }: AggregateV1): string {
  return JSON.stringify(Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function countDifference(answered: AggregateV1 | undefined, expected: AggregateV1): string[] {
  if (answered === undefined) return [];
  if (answered.total === expected.total && answered.unique_total === expected.unique_total) return [];
  return [`answered ${JSON.stringify(answered)}, expected ${JSON.stringify(expected)}`];
}

function repeated(lines: readonly AggregateV1[]): string {
  const seen = new Set<string>();
  const twice = lines.find((line) => seen.size === seen.add(keyOf(line)).size);
  return JSON.stringify(twice);
}

function orderDifference(answered: readonly AggregateV1[]): string {
  const sorted = sortAggregates(answered);
  const index = sorted.findIndex((line, at) => line !== answered[at]);
  if (index < 0) return "";
  return `wrong order at record ${index + 1}: ${JSON.stringify(answered[index])} before ${JSON.stringify(sorted[index])}`;
}
