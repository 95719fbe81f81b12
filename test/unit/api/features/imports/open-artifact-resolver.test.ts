import { expect, test } from "vitest";
import { openArtifactResolver } from "../../../../../api/features/imports/artifact-resolver.js";
import { ArtifactCache } from "../../../../../enrich/lookups/artifact-cache.js";
import type { Postgres } from "../../../../../api/base/postgres/query.js";
import { dockerPackage } from "../../../enrich/lines/chunk-of.js";

const sender = { accountId: "01990000-0000-7000-8000-0000000000cc", ownerId: dockerPackage.ownerId };
const unknown = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Knows one package once it is created, and counts the queries. */
function world() {
  const state = { isCreated: false, lists: 0, single: 0 };
  const row = { ...dockerPackage, ownerKind: "user", standing: "owner" };
  const pg = {
    async query(text: string, values: readonly unknown[]) {
      const isList = text.includes("union all");
      state[isList ? "lists" : "single"]++;
      const isFound = state.isCreated && (isList || values.includes(dockerPackage.id));
      return { rows: isFound ? [row] : [] };
    },
  };
  return { state, artifacts: new ArtifactCache(openArtifactResolver(pg as unknown as Postgres)) };
}

test("finds a package that was created after many unknown ids, in the next chunk", async () => {
  const { state, artifacts } = world();
  const earlier = artifacts.forChunk(sender);
  for (let n = 0; n < 40; n++) await earlier({ kind: "package", id: unknown(n) });
  state.isCreated = true;
  const { artifact } = await artifacts.forChunk(sender)({ kind: "package", id: dockerPackage.id });
  expect(artifact?.id).toBe(dockerPackage.id);
});

test("reads the ids of an owner once a chunk instead of asking for each", async () => {
  const { state, artifacts } = world();
  const artifactOf = artifacts.forChunk(sender);
  for (let n = 0; n < 200; n++) await artifactOf({ kind: "package", id: unknown(n) });
  expect(state).toMatchObject({ lists: 1, single: 17 });
});
