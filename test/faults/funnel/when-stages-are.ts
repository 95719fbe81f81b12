import { pause } from "../../../schemas/async/pause.js";
import type { Stage } from "../../../schemas/records/funnel.js";
import type { FunnelWorld } from "./funnel-world.js";
import type { PlannedOwner } from "./plan-funnel-seed.js";

const STAGES_MS_MAX = 240_000;
const POLL_MS = 100;

/** Waits until every company is where the rounds up to this one lead it; what differs is for the check at the end. */
export async function whenStagesAre(
  world: FunnelWorld,
  owners: readonly PlannedOwner[],
  round: number,
): Promise<void> {
  const wanted = stagesAfter(owners, round);
  for (const deadline = Date.now() + STAGES_MS_MAX; Date.now() < deadline; await pause(POLL_MS))
    if ((await countMisplaced(world, wanted)) === 0) return;
}

/** Stages by `owner domain`. */
export type Stages = ReadonlyMap<string, Stage>;

/** The stages of the companies after that round. */
export function stagesAfter(owners: readonly PlannedOwner[], round: number): Stages {
  const stages = new Map<string, Stage>();
  for (const { name, rounds } of owners)
    for (const { stage, companies } of rounds.slice(0, round + 1))
      for (const { domain } of companies) stages.set(`${name} ${domain}`, stage);
  return stages;
}

/** How many companies of these owners are elsewhere, or should not be there. */
export async function countMisplaced(world: FunnelWorld, wanted: Stages): Promise<number> {
  const names = [...new Set([...wanted.keys()].map((key) => key.split(" ", 1)[0]))];
  const text = `
    select o.name || ' ' || c.domain as key, c.stage from funnel_companies c join owners o on o.id = c.owner_id
    where o.name = any ($1)`;
  const { rows } = await world.askPostgres((client) =>
    client.query<{ key: string; stage: Stage }>(text, [names]),
  );
  const right = rows.filter(({ key, stage }) => wanted.get(key) === stage).length;
  return wanted.size - right + (rows.length - right);
}
