import assert from "node:assert/strict";
import { makePackage, TYPE_FIELDS } from "../support/imports/make-artifacts.js";
import { keptArtifacts, type ModelArtifact } from "./model.js";
import type { ModelOwner } from "./model-owner.js";

const PACKAGES_MAX = 8;

export async function addPackage({ api, name: organization, model }: ModelOwner): Promise<void> {
  if (keptArtifacts(model).length > PACKAGES_MAX) return;
  const named = { organization, name: `package-${model.artifacts.length}`, libraryType: "other" } as const;
  model.artifacts.push({ ...(await makePackage(api, named)), name: named.name });
}

function packageOf({ model }: ModelOwner, which: number): ModelArtifact | undefined {
  const packages = keptArtifacts(model).filter(({ kind }) => kind === "package");
  return packages[which % packages.length];
}

export async function renamePackage(owner: ModelOwner, which: number): Promise<void> {
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

export async function deletePackage(owner: ModelOwner, which: number): Promise<void> {
  const deleted = packageOf(owner, which);
  if (deleted === undefined) return;
  const { status } = await owner.api.request(`/v1/packages/${deleted.id}`, { method: "DELETE" });
  assert.equal(status, 204);
  deleted.deletedAt = performance.now();
  // Lines of it that are not enriched yet may still be refused.
  for (const sent of owner.model.imports)
    if (sent.events.some(({ artifact }) => artifact.id === deleted.id)) sent.refused = undefined;
}
