import { Random } from "../../../deploy/demo/random.js";
import { pause } from "../../../schemas/async/pause.js";
import type { WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { makeOrganization, makePackage, makePixel } from "../../support/imports/make-artifacts.js";
import { openReceiver } from "../../support/api/receivers.js";
import {
  checkFunnelSeed,
  type FunnelVerdict,
  type ListeningOwner,
  whenStagesAre,
} from "./check-funnel-seed.js";
import type { FunnelWorld } from "./funnel-world.js";
import { type FunnelSeedPlan, type RoundStage, type PlannedRound } from "./plan-funnel-seed.js";
import { untilAnswered } from "../worlds/until-answered.js";
import type { PlannedFault } from "../plans/plan-seed.js";
import { DAY_MS } from "../../../schemas/date-range.js";

export interface FunnelSeedReport extends FunnelVerdict {
  seed: number;
  /** Faults that were carried out. */
  faults: PlannedFault[];
  /** Kills at a moment that has no name. */
  killsAnywhere: number;
  durationMs: number;
}

/** Moves companies from stage to stage while the program is killed as planned, and checks the announcements. */
export async function runFunnelPlan(world: FunnelWorld, plan: FunnelSeedPlan): Promise<FunnelSeedReport> {
  const startedAt = performance.now();
  const { seed } = plan;
  const owners = await Promise.all(plan.owners.map((planned) => openOwner(world, planned)));
  try {
    await world.arm(plan.faults);
    let killsAnywhere = 0;
    for (const [round, killAfterMs] of plan.killsAfterMs.entries()) {
      await Promise.all(owners.map((owner) => importRound(world, owner, round)));
      if (killAfterMs !== undefined) killsAnywhere += await killAfter(world, killAfterMs);
      await whenStagesAre(world, plan.owners, round);
    }
    const verdict = await checkFunnelSeed(world, owners);
    const carriedOut = await world.carriedOut();
    const faults = plan.faults.filter((_, index) => carriedOut.has(index));
    return { seed, ...verdict, faults, killsAnywhere, durationMs: performance.now() - startedAt };
  } finally {
    for (const { receiver } of owners.flatMap(({ listeners }) => listeners))
      await receiver[Symbol.asyncDispose]();
  }
}

/** Before anything is armed. */
async function openOwner({ api }: FunnelWorld, planned: ListeningOwner["planned"]): Promise<ListeningOwner> {
  const { name } = planned;
  await makeOrganization(api, name);
  const image = await makePackage(api, { organization: name, name: "image", libraryType: "docker" });
  const docs = await makePixel(api, { owner: name, name: "docs" });
  const listeners = [];
  for (let nth = 0; nth < planned.webhooks; nth += 1) listeners.push(await openListener(api, name));
  return { planned, image, docs, listeners };
}

const ANSWER_MS_MAX = 60;

async function openListener(api: FunnelWorld["api"], owner: string) {
  const random = new Random(owner.length);
  const receiver = await openReceiver(
    (_, response) => void setTimeout(() => response.end("thank you"), random.below(ANSWER_MS_MAX)),
  );
  const body = { url: receiver.url, event_kinds: ["company-funnel-stage-changed"] };
  const { secret } = await api.post<WebhookRecord & { secret: string }>(`/v2/${owner}/webhooks`, body);
  return { secret, receiver };
}

const PATIENCE_MS = 240_000;

/** Under one Idempotency-Key, again until it is answered. */
async function importRound(world: FunnelWorld, owner: ListeningOwner, round: number): Promise<void> {
  const { name, rounds } = owner.planned;
  const body = linesOf(owner, rounds[round] as PlannedRound).join("\n");
  const headers = { "Content-Type": "application/ndjson", "Idempotency-Key": `${name}-${round}` };
  const ask = async () => {
    const answer = await world.api.request(`/v2/${name}/import`, { method: "POST", headers, body });
    const said = await answer.text();
    if (answer.status !== 200) throw new Error(`an import was not taken: ${answer.status} ${said}`);
  };
  await untilAnswered(ask, { patienceMs: PATIENCE_MS, meanwhile: () => world.whenRunning() });
}

/** Far enough from midnight for nothing to move while the seed runs. */
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

const DAYS_AGO: Record<RoundStage, readonly number[]> = {
  interest: [2],
  investigation: [3],
  experimentation: [4, 5],
};

/** A view; a download; a download on each of two other days, which with the view of before is experimentation. */
function linesOf({ image, docs }: ListeningOwner, { stage, companies }: PlannedRound): string[] {
  const of = stage === "interest" ? { $pixel: docs.id } : { $package: image.id };
  const days = DAYS_AGO[stage];
  return companies.flatMap(({ address }) =>
    days.map((day) =>
      JSON.stringify({ $time: `${daysAgo(day)}T12:00:00Z`, ...of, $remote_address: address }),
    ),
  );
}

async function killAfter(world: FunnelWorld, delayMs: number): Promise<number> {
  await pause(delayMs);
  await world.whenRunning();
  await world.kill();
  return 1;
}
