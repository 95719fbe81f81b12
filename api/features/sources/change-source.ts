import type { Pool } from "pg";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import type {
  SourceCreate,
  SourceKind,
  SourceRecord,
  SourceUpdate,
} from "../../../schemas/contracts/source.js";
import { dateAt } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import { type Owner, ownerFor } from "../../base/access/authorise.js";
import { ownedPackageId } from "../../base/access/owned-package.js";
import { type Quotas, requireRoom } from "../../base/access/quotas.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { entityTag, requireMatch } from "../../base/http/answers/headers.js";
import type { Call } from "../../base/http/route.js";
import { requireFew } from "../../base/identity/failure-limits.js";
import type { Postgres } from "../../base/postgres/query.js";
import { type RegistryAccess, RegistryFailure, UnknownName, requireKnownName } from "./read-registry.js";
import { REGISTRIES } from "./registries/registries.js";
import {
  type SourceFields,
  countSources,
  deleteCounts,
  hasSource,
  insertSource,
  updateSource,
} from "./sources.js";

export interface SourceDeps {
  pg: Pool;
  access: RegistryAccess;
  /** Counts the looks of each account at each registry. */
  looks: RateLimiterMemory;
  quotas: Quotas;
}

/** Of one account at one registry in a minute. Each process counts for itself. */
export const LOOKS_MAX = 30;
/** How long a caller waits for the registry to know a name, and how much of that for a turn to ask it. */
const LOOK_MS = 5_000;
const TURN_MS_MAX = 2_500;

type Managing = Call<OwnerAction>;

interface Creating {
  call: Managing;
  sent: SourceCreate;
}

/** Everything else is checked before the registry is asked, and again with the owner locked. */
export async function prepareSource(deps: SourceDeps, { call, sent }: Creating): Promise<void> {
  const { pg, quotas } = deps;
  const { account, action, param } = call;
  const owner = await ownerFor(pg, account, param("owner"), action);
  requireNamePattern(sent);
  requireRoom(quotas, "sources", { name: owner.name, count: await countSources(pg, owner.id) });
  await packageIdOf(pg, { account, owner, idOrName: sent.package });
  await requireFree(pg, { ...sent, ownerId: owner.id });
  await requireName(deps, { account, ...sent });
}

export async function insertSent(
  client: Postgres,
  { call: { account }, owner, sent }: Creating & { owner: Owner },
): Promise<string> {
  const { kind, name, enabled = true } = sent;
  const packageId = await packageIdOf(client, { account, owner, idOrName: sent.package });
  await requireFree(client, { kind, name, ownerId: owner.id });
  return insertSource(client, { ownerId: owner.id, kind, name, packageId, enabled });
}

interface Changing {
  call: Managing;
  owner: Pick<Owner, "id" | "name">;
  sent: SourceUpdate;
}

export async function prepareChange(
  deps: SourceDeps,
  { row, ...changing }: Changing & { row: SourceRecord },
): Promise<void> {
  const { call } = changing;
  requireMatch(call.ctx, entityTag(row));
  const { isAnother, ...fields } = await changedFields(deps.pg, { ...changing, before: row });
  if (isAnother) await requireName(deps, { account: call.account, ...fields });
}

export async function applyChange(
  client: Postgres,
  { before, ...changing }: Changing & { before: SourceRecord },
): Promise<void> {
  const { isAnother, ...fields } = await changedFields(client, { ...changing, before });
  // Another name is another thing.
  if (isAnother) await deleteCounts(client, before.id);
  await updateSource(client, { ...fields, id: before.id });
}

async function changedFields(
  pg: Postgres,
  { call, owner, sent, before }: Changing & { before: SourceRecord },
): Promise<SourceFields & { isAnother: boolean }> {
  const { kind, name, enabled } = { ...before, ...sent };
  const isAnother = kind !== before.kind || name !== before.name;
  if (isAnother) requireNamePattern({ kind, name });
  const packageId =
    sent.package === undefined
      ? (before.package_id ?? null)
      : await packageIdOf(pg, { account: call.account, owner, idOrName: sent.package });
  if (isAnother) await requireFree(pg, { ownerId: owner.id, kind, name });
  return { kind, name, packageId, enabled, isAnother };
}

interface Named {
  kind: SourceKind;
  name: string;
}

function requireNamePattern({ kind, name }: Named): void {
  const { noun, name: rule } = REGISTRIES[kind];
  if (rule.pattern.test(name)) return;
  throw invalidBody([{ path: "/name", message: `must be a ${noun} on ${kind}, such as ${rule.example}` }]);
}

async function requireFree(pg: Postgres, named: Named & { ownerId: string }): Promise<void> {
  if (!(await hasSource(pg, named))) return;
  throw new Problem("already-exists", `The source ${named.kind} ${named.name} already exists.`);
}

/** Throws `rate-limited`, and `unknown-name` where the registry answers in time that it has no such thing. */
async function requireName(
  { pg, access, looks }: SourceDeps,
  { account, kind, name }: Named & Pick<Managing, "account">,
): Promise<void> {
  const sentence = `Your account looked up too many names at ${kind} in the last minute. Try again later.`;
  await requireFew(looks, `${kind} ${account.id}`, sentence);
  const signal = AbortSignal.timeout(LOOK_MS);
  const look = { kind, name, today: dateAt(Date.now()), waitMsMax: TURN_MS_MAX, signal };
  try {
    await requireKnownName({ pg, access }, look);
  } catch (error) {
    if (error instanceof UnknownName) throw new Problem("unknown-name", error.message);
    // The first run says what else is wrong, in `last_error`.
    if (!(error instanceof RegistryFailure || signal.aborted)) throw error;
  }
}

interface PackageOf {
  account: Managing["account"];
  owner: { id: string; name: string };
  idOrName: string | null | undefined;
}

async function packageIdOf(pg: Postgres, { account, owner, idOrName }: PackageOf): Promise<string | null> {
  if (idOrName === undefined || idOrName === null) return null;
  return ownedPackageId(pg, { account, ownerId: owner.id, owner: owner.name, idOrName, field: "package" });
}
