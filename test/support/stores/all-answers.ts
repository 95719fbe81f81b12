import { readCompanyArtifacts, readCompanyDays } from "../../../aggregate/funnel/read-company-activity.js";
import { readCompanyFacts, type OwnerFacts } from "../../../aggregate/funnel/read-company-facts.js";
import { openEvents } from "../../../aggregate/queries/events/open-events.js";
import { openAggregates } from "../../../aggregate/queries/open-aggregates.js";
import { openImportLog, readImportFaults } from "../../../aggregate/queries/open-import-log.js";
import { readPackageDays, readStatistics } from "../../../aggregate/statistics/read-statistics.js";
import { BREAKDOWNS } from "../../../schemas/contracts/aggregate.js";
import { STATISTICS_LISTS } from "../../../schemas/contracts/breakdowns.js";
import type { UnsettledImports } from "../../../schemas/records/settlement.js";
import type { Shards } from "../../../schemas/shards.js";
import { textOf } from "../api/management-world.js";

export interface Asked {
  packages: readonly string[];
  pixels: readonly string[];
  imports: readonly string[];
  unsettled: UnsettledImports;
}

const RANGE = { startDate: "2025-03-01", endDate: "2025-04-15" };
const DOMAIN = "example.org";

/** Everything that is ever read from ClickHouse for users, as text. Events come in no order, so their lines are sorted. */
export async function allAnswers(shards: Shards, asked: Asked): Promise<Record<string, string>> {
  const texts = { ...(await exportsOf(shards, asked)), ...(await importAnswers(shards, asked)) };
  const values = {
    ...(await statisticsOf(shards, asked)),
    companyDays: await readCompanyDays(shards.all, companyOf(asked)),
    companyArtifacts: await readCompanyArtifacts(shards.all, companyOf(asked)),
    companyFacts: await factsOf(shards, asked),
  };
  const shown = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value, replacer, 1)]);
  return { ...texts, ...(Object.fromEntries(shown) as Record<string, string>) };
}

/** The parts of a statement answer in no order: the lists are sorted by name, never their rows. */
const replacer = (_: string, value: unknown) =>
  value instanceof Map ? [...(value as Map<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1)) : value;

async function exportsOf({ all, shards }: Shards, { packages, pixels, unsettled }: Asked) {
  const { signal } = new AbortController();
  const named = packages.map((id) => ({ id, name: `package ${id}`, libraryType: "docker" as const }));
  const artifacts = [...packages, ...pixels].map((id) => ({ id, packageName: `package ${id}` }));
  const isSharded = shards.length > 1;
  const aggregates = { ...RANGE, packages: named, breakdowns: BREAKDOWNS, isSharded, signal };
  const events = { ...RANGE, artifacts, unsettled: async () => unsettled, signal };
  const sorted = (text: string) => text.split("\n").sort().join("\n");
  return {
    aggregates: await textOf(await openAggregates(all, aggregates)),
    events: sorted(await textOf(await openEvents(all, { ...events, format: "ndjson" }))),
  };
}

async function importAnswers({ all }: Shards, { imports }: Asked): Promise<Record<string, string>> {
  const { signal } = new AbortController();
  const answers: Record<string, string> = {};
  for (const [index, importId] of imports.slice(0, 2).entries()) {
    for (const what of ["import-log", "import-log-rest", "rejected-lines"] as const)
      answers[`${what} ${index}`] = await textOf(await openImportLog(all, { importId, what, signal }));
    answers[`faults ${index}`] = JSON.stringify(await readImportFaults(all, importId));
  }
  return answers;
}

async function statisticsOf({ all }: Shards, { packages, pixels, unsettled }: Asked) {
  const { signal } = new AbortController();
  const query = {
    packages,
    pixels,
    libraryTypes: new Set(["docker", "other"] as const),
    range: { startDate: "2025-03-11", endDate: "2025-04-15" },
    before: { startDate: "2025-03-01", endDate: "2025-03-11" },
    interval: "week" as const,
    lists: STATISTICS_LISTS,
    limit: 50,
    automated: "include" as const,
    unsettled,
    signal,
  };
  return {
    statistics: await readStatistics(all, { ...query, filters: [] }),
    people: await readStatistics(all, { ...query, filters: [], automated: "exclude" }),
    filtered: await readStatistics(all, {
      ...query,
      filters: [{ column: "client", values: ["agent1", "agent2"] }],
    }),
    packageDays: (await readPackageDays(all, { packages, range: RANGE, automated: "include", signal })).sort(
      (one, other) => (`${one.package} ${one.date}` < `${other.package} ${other.date}` ? -1 : 1),
    ),
  };
}

function companyOf({ packages, pixels }: Asked) {
  return { artifacts: [...packages, ...pixels], domain: DOMAIN, ...RANGE };
}

async function factsOf(shards: Shards, { packages, pixels }: Asked): Promise<OwnerFacts[]> {
  const artifactsOf = (ids: readonly string[], kind: "package" | "pixel") =>
    ids.map((id) => ({ id, kind, importance: "high" as const }));
  const owners = [
    { id: "", artifacts: artifactsOf(packages, "package") },
    { id: "", artifacts: artifactsOf(pixels, "pixel") },
  ];
  const facts: OwnerFacts[] = [];
  const { signal } = new AbortController();
  for await (const one of readCompanyFacts(shards, { owners, today: "2025-03-20", signal })) facts.push(one);
  return facts;
}
