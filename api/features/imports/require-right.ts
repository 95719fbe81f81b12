import { Problem } from "../../../schemas/problem.js";
import { admit, notFound } from "../../base/access/authorise.js";
import { readOwnerById } from "../../base/access/owners.js";
import type { Action } from "../../base/access/resources.js";
import { readPackage } from "../../base/access/visible-packages.js";
import type { RequireCaller } from "../../base/http/route.js";
import { readPixel } from "../packages/pixels.js";
import type { Postgres } from "../../base/postgres/query.js";
import type { NewImport } from "./start-imports.js";

export interface ImportRight extends Pick<NewImport, "ownerId" | "artifactKind" | "artifactId"> {
  action: Action;
  /** Of the target, for the sentence. */
  name: string;
}

/** A check this recent holds: most imports are over before the next. */
const HOLDS_MS = 100;

/**
 * Checks the caller's right to an import again, by ids: names may change during an upload. The right counts as checked
 * now. Throws what a new request would.
 */
export function openRightCheck(
  pg: Postgres,
  requireCaller: RequireCaller | undefined,
  right: ImportRight,
): () => Promise<void> {
  let checkedAt = performance.now();
  return async () => {
    if (performance.now() - checkedAt < HOLDS_MS) return;
    const began = performance.now();
    if (requireCaller === undefined)
      throw new Problem("unauthenticated", "A token or a session is required.");
    const account = await requireCaller(pg);
    const { action, name } = right;
    const what = right.artifactKind === "any" ? "owner" : right.artifactKind;
    const found = await readTarget(pg, account.id, right);
    if (found === undefined) throw notFound(what, name);
    admit(account, action, { ...found, what, name });
    checkedAt = began;
  };
}

async function readTarget(
  pg: Postgres,
  accountId: string,
  { ownerId, artifactKind, artifactId }: ImportRight,
) {
  if (artifactKind === "package") return readPackage(pg, { accountId, id: artifactId });
  if (artifactKind === "pixel") return readPixel(pg, { accountId, id: artifactId });
  const owner = await readOwnerById(pg, { accountId, id: ownerId });
  return owner && { standing: owner.standing, ownerId, ownerKind: owner.kind };
}
