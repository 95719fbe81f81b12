import type { ErasureRecord } from "../../schemas/contracts/erasure.js";
import { pause } from "../../schemas/async/pause.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { LOOK_AT_ONCE } from "../faults/erasures/run-erasures.js";
import { untilAnswered } from "../faults/worlds/until-answered.js";
import { makePackage } from "../support/imports/make-artifacts.js";
import { PLACES } from "../support/statistics/sent-events.js";
import type { ModelOwner } from "./model-owner.js";
import { FLUSHED_MS, killProgram } from "./kill-program.js";

const ADDRESSES = PLACES.map(({ address }) => address).filter((address) => address !== "");
const DONE_MS_MAX = 300_000;
const KILL_AFTER_MS_MAX = 2_000;

/**
 * Erases the client at one of the addresses, and waits until it is done: live events that come meanwhile may go. Imports that
 * are not settled yet have lines of it, too.
 */
export async function erase(
  world: FaultWorld,
  owner: ModelOwner,
  { which, kill }: { which: number; kill: boolean },
): Promise<void> {
  const address = ADDRESSES[which % ADDRESSES.length] ?? "";
  const endpoint = (await endpointsOf(world)).get(address) ?? "";
  const path = `/v2/${owner.name}/erasures`;
  const { id } = await owner.api.post<ErasureRecord>(path, { endpoint_id: endpoint });
  if (kill) {
    // Live events are in the log by then.
    await pause(FLUSHED_MS + (which % KILL_AFTER_MS_MAX));
    await killProgram(world, which);
  }
  const requireDone = async () => {
    await world.withPostgres((pg) => pg.query(LOOK_AT_ONCE));
    const record = await owner.api.get<ErasureRecord>(`${path}/${id}`);
    if (record.status !== "done") throw new Error(`the erasure of ${address} is ${JSON.stringify(record)}`);
  };
  await untilAnswered(requireDone, { patienceMs: DONE_MS_MAX, meanwhile: () => world.whenRunning() });
  const { model } = owner;
  for (const sent of model.imports) sent.erased.add(address);
  model.collected = model.collected.filter(({ place }) => place.address !== address);
}

const known = new WeakMap<FaultWorld["recountBodies"], Promise<Map<string, string>>>();

/** The `endpoint_id` of each address, which is the same for all owners. */
function endpointsOf(world: FaultWorld): Promise<Map<string, string>> {
  const found = known.get(world.recountBodies) ?? findEndpoints(world);
  known.set(world.recountBodies, found);
  return found;
}

async function findEndpoints({ api, organization, clickhouse }: FaultWorld): Promise<Map<string, string>> {
  const { id } = await makePackage(api, { organization, name: "addresses", libraryType: "docker" });
  const lines = ADDRESSES.map((address) =>
    JSON.stringify({ $time: "2025-03-10", $remote_address: address, $version: address }),
  );
  const path = `/v2/packages/${organization}/${id}/import`;
  await api.pollToDone(await api.importBody(path, lines.join("\n")));
  const rows = await clickhouse.rows<{ address: string; endpoint: string }>(
    `SELECT package_version AS address, lower(hex(endpoint_id)) AS endpoint FROM events WHERE artifact = '${id}'`,
  );
  return new Map(rows.map(({ address, endpoint }) => [address, endpoint]));
}
