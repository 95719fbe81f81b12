import { beforeAll, expect, test } from "vitest";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";

const ORGANIZATION = "forgetting";
const CLIENT_ADDRESS = "18.66.22.200";
const EVENTS = "/v1/packages/image/events/events.csv?startDate=2025-03-01&endDate=2025-04-01";
const STATISTICS = `/v2/${ORGANIZATION}/stats?startDate=2025-03-01&endDate=2025-04-01`;
/** With a condition that the breakdowns cannot answer, so that events are read. */
const OF_EVENTS = `${STATISTICS}&package=image&version=1.0`;
const BODIES = 6;
const LINES = 300;

let image: KnownArtifact;

useToolchain({ organizations: [ORGANIZATION] });
beforeAll(async () => {
  image = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
});

interface Line {
  key: string;
  isOfClient: boolean;
}

/** Every third line is of the client. Later bodies override events of earlier ones, and so of other shards. */
function linesOf(body: number): Line[] {
  return Array.from({ length: LINES }, (_, line) => ({
    key: `event-${body * 100 + line}`,
    isOfClient: line % 3 === 0,
  }));
}

async function importBody(lines: readonly Line[]): Promise<void> {
  const body = lines.map(({ key, isOfClient }, line) =>
    JSON.stringify({
      $time: `2025-03-1${line % 7}T12:00:00Z`,
      $unique_id: key,
      $package: image.id,
      $remote_address: isOfClient ? CLIENT_ADDRESS : `18.66.22.${line % 50}`,
      $version: "1.0",
    }),
  );
  await api.pollToDone(await api.importBody(`/v2/${ORGANIZATION}/import`, body.join("\n")));
}

interface Seen {
  statuses: number[];
  /** Events of the client in an export. */
  events: number;
  /** Downloads by the breakdowns, and by the events. */
  downloads: readonly [number, number];
}

async function look(clientId: string): Promise<Seen> {
  const answers = await Promise.all([EVENTS, STATISTICS, OF_EVENTS].map((path) => api.request(path)));
  const [events = "", ...statistics] = await Promise.all(answers.map((answer) => answer.text()));
  const [whole, some] = statistics.map((text) => (JSON.parse(text) as Statistics).totals?.downloads ?? -1);
  return {
    statuses: answers.map(({ status }) => status),
    events: events.split("\n").filter((line) => line.includes(clientId)).length,
    downloads: [whole ?? -1, some ?? -1],
  };
}

/** The id of the client in an export: of the address that most events have. */
async function findClient(): Promise<string> {
  const [header = "", ...lines] = (await (await api.request(EVENTS)).text()).trim().split("\n");
  const columns = header.replaceAll('"', "").split(",");
  // From the end: names of companies before it may have a comma.
  const column = columns.indexOf("endpoint_id") - columns.length;
  const counts = new Map<string, number>();
  for (const line of lines) {
    const id = (line.split(",").at(column) ?? "").replaceAll('"', "");
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? "";
}

/** Of every server: on a cluster, all lines may have gone to one shard. */
async function allTablesWith(clientId: string): Promise<string[]> {
  const found = await Promise.all(toolchain.clickhouseServers.map((url) => tablesWith(url, clientId)));
  return found.flat();
}

/** Tables of a server with rows of the client, in any column of its kind. */
async function tablesWith(url: string, clientId: string): Promise<string[]> {
  await using server = connectClickHouse(url);
  const columns = await server.query({
    query: `SELECT table, name FROM system.columns
      WHERE database = currentDatabase() AND name IN ('endpoint_id', 'origin_id')
        AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`,
    format: "JSONEachRow",
  });
  const found: string[] = [];
  for (const { table, name } of await columns.json<{ table: string; name: string }>()) {
    const answer = await server.query({
      query: `SELECT 1 FROM ${table} WHERE ${name} = unhex({clientId:String}) LIMIT 1`,
      query_params: { clientId },
      format: "JSONEachRow",
    });
    if ((await answer.json()).length > 0) found.push(`${table}.${name}`);
  }
  return found;
}

test("while a client is erased every export answers, none shows it once it is found, and no server keeps it", async () => {
  const bodies = Array.from({ length: BODIES }, (_, body) => linesOf(body));
  for (const lines of bodies) await importBody(lines);
  const clientId = await findClient();
  const before = await look(clientId);
  expect(before.events).toBeGreaterThan(LINES / 3);
  expect(await allTablesWith(clientId)).not.toEqual([]);
  const asked = await api.post<{ id: string }>(`/v2/${ORGANIZATION}/erasures`, { endpoint_id: clientId });
  const record = () =>
    api.get<{ status: string; events_erased: number }>(`/v2/${ORGANIZATION}/erasures/${asked.id}`);
  await expect
    .poll(
      async () => {
        const { status, events_erased: found } = await record();
        const now = await look(clientId);
        expect(now.statuses).toEqual([200, 200, 200]);
        if (found > 0) expect(now.events).toBe(0);
        return status;
      },
      { timeout: 300_000 },
    )
    .toBe("done");
  // An event that the client had overridden is again what it was before.
  const left = new Set(bodies.flat().flatMap(({ key, isOfClient }) => (isOfClient ? [] : [key]))).size;
  const after = { statuses: [200, 200, 200], events: 0, downloads: [left, left] };
  expect(await look(clientId)).toEqual(after);
  expect(await allTablesWith(clientId)).toEqual([]);
});
