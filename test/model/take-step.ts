import assert from "node:assert/strict";
import { Random } from "../../deploy/demo/random.js";
import { pause } from "../../schemas/async/pause.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { callCollect } from "../support/collect/collect-client.js";
import { compareSome, whenCounted } from "./compare.js";
import { drawCollected, computeStages, deletedIn, type ModelArtifact, keptArtifacts } from "./model.js";
import { erase } from "./erase-steps.js";
import { FLUSHED_MS, killProgram } from "./kill-program.js";
import { retract, startImport } from "./import-steps.js";
import type { ModelOwner } from "./model-owner.js";
import type { Step } from "./plan-steps.js";
import { makePackage, TYPE_FIELDS } from "../support/imports/make-artifacts.js";

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
    case "erase":
      return erase(world, owner, step);
    case "kill":
      await pause(FLUSHED_MS);
      return killProgram(world, step.which);
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
    if (isServed) model.collected.push({ ...event, key: `collected-${seed}-${sent}` });
  }
}

const PACKAGES_MAX = 8;

async function addPackage({ api, name: organization, model }: ModelOwner): Promise<void> {
  if (keptArtifacts(model).length > PACKAGES_MAX) return;
  const named = { organization, name: `package-${model.artifacts.length}`, libraryType: "other" } as const;
  model.artifacts.push({ ...(await makePackage(api, named)), name: named.name });
}

function packageOf({ model }: ModelOwner, which: number): ModelArtifact | undefined {
  const packages = keptArtifacts(model).filter(({ kind }) => kind === "package");
  return packages[which % packages.length];
}

async function renamePackage(owner: ModelOwner, which: number): Promise<void> {
  const renamed = packageOf(owner, which);
  if (renamed === undefined) return;
  const path = `/v1/packages/${renamed.id}`;
  const name = `${owner.name}-renamed-${which}-${owner.model.artifacts.indexOf(renamed)}`;
  const { libraryType } = renamed;
  const fields = libraryType === "" ? {} : TYPE_FIELDS[libraryType];
  const body = JSON.stringify({ name, shortDescription: "For a test", libraryType, ...fields });
  const answer = await owner.api.request(path, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body,
  });
  const said = await answer.text();
  assert.equal(answer.status, 200, said);
  renamed.name = name;
}

async function deletePackage(owner: ModelOwner, which: number): Promise<void> {
  const deleted = packageOf(owner, which);
  if (deleted === undefined) return;
  const { status } = await owner.api.request(`/v1/packages/${deleted.id}`, { method: "DELETE" });
  assert.equal(status, 204);
  deleted.deletedAt = performance.now();
  // Lines of it that are not enriched yet may still be refused.
  for (const sent of owner.model.imports)
    if (sent.events.some(({ artifact }) => artifact.id === deleted.id)) sent.refused = undefined;
}
