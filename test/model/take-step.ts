import assert from "node:assert/strict";
import { Random } from "../../deploy/demo/random.js";
import { pause } from "../../schemas/async/pause.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { callCollect } from "../support/collect/collect-client.js";
import { compareSome, whenCounted } from "./compare.js";
import { drawCollected } from "./draw-event.js";
import { retract, startImport } from "./import-steps.js";
import { computeStages, deletedIn, type ModelArtifact } from "./model.js";
import type { ModelOwner } from "./model-owner.js";
import { addPackage, deletePackage, renamePackage } from "./package-steps.js";
import type { Step } from "./plan-steps.js";

/** Takes a step in the service and in the model. */
export async function takeStep(world: FaultWorld, owner: ModelOwner, step: Step): Promise<void> {
  switch (step.do) {
    case "import":
      return startImport(owner, step);
    case "retract":
      return retract(owner, step.which);
    case "make package":
      return addPackage(owner);
    case "rename package":
      return renamePackage(owner, step.which);
    case "delete package":
      return deletePackage(owner, step.which);
    case "collect":
      return collect(world, owner, step);
    case "compute stages":
      await whenCounted(world, owner);
      await world.collector.admin("funnel", "run", owner.name);
      return computeStages(owner.model);
    case "compare":
      return compareSome(world, owner);
    case "kill":
      return kill(world, step.which);
  }
}

async function collect(
  { collector }: FaultWorld,
  { host, model }: ModelOwner,
  { seed, events }: { seed: number; events: number },
): Promise<void> {
  const random = new Random(seed);
  const [files, pixel] = ["other", ""].map((type) =>
    model.artifacts.find(({ libraryType }) => libraryType === type),
  );
  for (let sent = 0; sent < events; sent += 1) {
    const event = drawCollected(random, random.pick([files, pixel]) as ModelArtifact);
    const { artifact, variables, place, agent, page } = event;
    const isView = artifact.kind === "pixel";
    const path = isView ? `/a.png?x-pxid=${artifact.id}` : `/${variables["version"]}/${variables["channel"]}`;
    const headers = {
      "X-Forwarded-For": place.address,
      ...(agent.agent !== "" && { "User-Agent": agent.agent }),
      ...(page !== "" && { Referer: page }),
    };
    const { status } = await callCollect(collector.endpoints.collect, {
      ...(!isView && { host }),
      path,
      headers,
    });
    const isServed = !deletedIn(model.artifacts, artifact.id);
    assert.equal(status, isServed ? 200 : 404);
    if (isServed) model.collected.push({ ...event, key: `collected-${model.collected.length}` });
  }
}

/** Events of live requests are in the log by then. */
const FLUSHED_MS = 1_000;

async function kill(world: FaultWorld, which: number): Promise<void> {
  await pause(FLUSHED_MS);
  await world.programs[which % world.programs.length]?.kill("SIGKILL");
  await world.whenRunning();
}
