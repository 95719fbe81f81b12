import type { ErasureRecord } from "../../../schemas/contracts/erasure.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { countLive } from "../../support/stores/open-clickhouse.js";
import type { FaultWorld } from "../worlds/fault-world.js";
import { untilAnswered } from "../worlds/until-answered.js";
import type { Verdict } from "./check-imports.js";
import { countDifferingRows } from "./check-seed.js";
import { sendImport } from "./send-import.js";

/** What goes on beside the imports of a seed: a client is erased, and a chunk of an import becomes a dead letter. */
export interface Beside {
  /** Resolves when both are done. Call it once, while faults are armed. */
  run(): Promise<void>;
  /** Adds what is wrong, and drops the dead letter. */
  check(verdict: Verdict): Promise<void>;
}

const EVENTS = 2_000;
const CLIENTS = 4;
const PATIENCE_MS = 300_000;

/** Before anything is armed: each event has a version of two clients. */
export async function openBeside(world: FaultWorld, seed: number): Promise<Beside> {
  const { api, organization } = world;
  const make = (name: string) => makePackage(api, { organization, name, libraryType: "docker" });
  const [erased, poisoned] = [await make(`erased-${seed}`), await make(`poisoned-${seed}`)];
  for (const version of [0, 1]) {
    const path = `/v2/packages/${organization}/${erased.id}/import`;
    await api.pollToDone(await api.importBody(path, versionLines(seed, version).join("\n")));
  }
  const [client] = await world.clickhouse.rows<{ id: string }>(
    `SELECT lower(hex(max(endpoint_id))) AS id FROM events WHERE artifact = '${erased.id}'`,
  );
  const endpoint = client?.id ?? "";
  const patience = { patienceMs: PATIENCE_MS, meanwhile: () => world.whenRunning() };
  let erasure = "";
  let letter = "";
  return {
    async run() {
      const ask = () =>
        world.api.post<ErasureRecord>(`/v2/${organization}/erasures`, { endpoint_id: endpoint });
      ({ id: erasure } = await untilAnswered(ask, patience));
      // An erasure waits for dead letters of before.
      letter = await importPoison(world, { seed, poisoned });
      await untilAnswered(async () => {
        const paths = [`/v2/${organization}/erasures/${erasure}`, `/v2/imports/${organization}/${letter}`];
        for (const path of paths)
          if ((await world.api.get<{ status: string }>(path)).status !== "done")
            throw new Error(`${path} is not done`);
      }, patience);
    },
    async check(verdict) {
      await checkErased(world, { erased, endpoint }, verdict);
      await checkLetter(world, { poisoned, letter }, verdict);
      for (const { id } of await lettersOf(world, letter))
        await world.programs[0]?.admin("dead-letters", "drop", id);
    },
  };
}

/** Of no client of the seed's other imports. */
function versionLines(seed: number, version: number): string[] {
  return Array.from({ length: EVENTS }, (_, event) => {
    const client = 10 + ((event + version) % CLIENTS);
    return JSON.stringify({
      $time: `2025-03-1${(event + version) % 5}T12:00:00Z`,
      $unique_id: `u${event}`,
      $remote_address: `81.2.${seed % 250}.${client}`,
    });
  });
}

/** See arm.mjs. One of its chunks, of about 500 lines, has the line that enrichment runs into. */
async function importPoison(
  world: FaultWorld,
  { seed, poisoned }: { seed: number; poisoned: KnownArtifact },
): Promise<string> {
  const good = Array.from({ length: EVENTS }, (_, line) =>
    JSON.stringify({
      ...{ $time: "2025-03-10T12:00:00Z", $unique_id: `d${line}`, padding: "x".repeat(900) },
      ...(line === EVENTS / 2 && { $headers: [{ name: "X-Poison", value: "1" }] }),
    }),
  );
  const planned = { key: `${seed}-poison`, package: 0, lines: EVENTS, refused: 0, startAt: 0 };
  const sent = { planned: { ...planned, gzip: false, ending: "keep" as const }, good, refused: [] };
  return (await sendImport(world, { ...sent, packageId: poisoned.id })).answeredId ?? "";
}

/** No row of the client is left, and every event lives on with its other version. */
async function checkErased(
  world: FaultWorld,
  { erased, endpoint }: { erased: KnownArtifact; endpoint: string },
  verdict: Verdict,
): Promise<void> {
  const [left] = await world.clickhouse.rows<{ count: string }>(
    `SELECT count() AS count FROM events WHERE artifact = '${erased.id}' AND endpoint_id = unhex('${endpoint}')`,
  );
  await checkLive(world, { id: erased.id, expected: EVENTS }, verdict);
  if (Number(left?.count) === 0) return;
  verdict.miscounted += 1;
  verdict.details.push(`${left?.count} rows of an erased client are left`);
}

/** There is one, whose lines count as failed, and all others are live. */
async function checkLetter(
  world: FaultWorld,
  { poisoned, letter }: { poisoned: KnownArtifact; letter: string },
  verdict: Verdict,
): Promise<void> {
  const record = await world.api.get<EventImport>(`/v2/imports/${world.organization}/${letter}`);
  const letters = await lettersOf(world, letter);
  const failed = letters.reduce((sum, { lines }) => sum + lines, 0);
  await checkLive(world, { id: poisoned.id, expected: EVENTS - failed }, verdict);
  if (letters.length === 1 && failed > 0 && record.events_failed_to_import === failed) return;
  verdict.miscounted += 1;
  verdict.details.push(`the dead letters are ${JSON.stringify(letters)} of ${JSON.stringify(record)}`);
}

async function lettersOf(world: FaultWorld, importId: string): Promise<{ id: string; lines: number }[]> {
  const text = "select id::text, lines from dead_letters where import_id = $1 and ended_at is null";
  return world.withPostgres(
    async (pg) => (await pg.query<{ id: string; lines: number }>(text, [importId])).rows,
  );
}

async function checkLive(
  { clickhouse }: FaultWorld,
  { id, expected }: { id: string; expected: number },
  verdict: Verdict,
): Promise<void> {
  const live = await countLive(clickhouse, id);
  const views = await countDifferingRows(clickhouse, id);
  verdict.lost += Math.max(0, expected - live.events);
  verdict.doubled += Math.max(0, live.events - expected) + live.notOnce;
  verdict.mismatched += views.length;
  if (live.events !== expected || live.notOnce > 0 || views.length > 0)
    verdict.details.push(`beside, ${id}: ${JSON.stringify({ expected, ...live, views })}`);
}
