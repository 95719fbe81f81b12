import type { Pool } from "pg";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import {
  type SourceCreate,
  type SourceKind,
  type SourceRecord,
  type SourceUpdate,
  parseSourceCreate,
  parseSourceUpdate,
} from "../../schemas/contracts/source.js";
import { dateAt } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/invalid-body.js";
import { changedFields } from "../access/audit-entries.js";
import { type Owner, ownerFor } from "../access/authorise.js";
import { ownedPackageId } from "../access/owned-package.js";
import { lockOwner } from "../access/owners.js";
import { type Quotas, requireRoom } from "../access/quotas.js";
import { entityTag, requireMatch } from "../http/answers/headers.js";
import { readJson } from "../http/middleware/read-json.js";
import type { Call } from "../http/route.js";
import { requireFew } from "../identity/failure-limits.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import { type RegistryAccess, RegistryFailure, UnknownName, requireKnownName } from "./read-registry.js";
import { REGISTRIES } from "./registries/registries.js";
import {
  countSources,
  deleteCounts,
  hasSource,
  insertSource,
  sourceFor,
  sourceTarget,
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

type Managing = Call<"sources.manage">;

export async function createSource(deps: SourceDeps, call: Managing): Promise<SourceRecord> {
  const { pg, quotas } = deps;
  const { ctx, account, action, param, record } = call;
  const sent = await readJson(ctx, parseSourceCreate);
  const { kind, name, enabled = true } = sent;
  // Everything else is checked before the registry is asked, and again with the owner locked.
  await requireCreatable(pg, { call, quotas, sent });
  await requireName(deps, { account, kind, name });
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { owner, packageId } = await requireCreatable(client, { call, quotas, sent });
    const id = await insertSource(client, { ownerId: owner.id, kind, name, packageId, enabled });
    const of = (parameter: string) => (parameter === "source" ? id : owner.name);
    const { source } = await sourceFor(client, { account, action, param: of });
    await record(client, { ownerId: owner.id, target: sourceTarget(source), changes: sent });
    return source;
  });
}

interface Creating {
  call: Managing;
  quotas: Quotas;
  sent: SourceCreate;
}

async function requireCreatable(
  pg: Postgres,
  { call: { account, action, param }, quotas, sent }: Creating,
): Promise<{ owner: Owner; packageId: string | null }> {
  const owner = await ownerFor(pg, account, param("owner"), action);
  requireNamePattern(sent);
  requireRoom(quotas, "sources", { name: owner.name, count: await countSources(pg, owner.id) });
  const packageId = await packageIdOf(pg, { account, owner, idOrName: sent.package });
  await requireFree(pg, { ...sent, ownerId: owner.id });
  return { owner, packageId };
}

export async function changeSource(deps: SourceDeps, call: Managing): Promise<SourceRecord> {
  const { pg } = deps;
  const { ctx, account, param, record } = call;
  const sent = await readJson(ctx, parseSourceUpdate);
  const { kind, name, isAnother } = await requireChangeable(pg, { call, sent });
  if (isAnother) await requireName(deps, { account, kind, name });
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { ownerId, before, ...changed } = await requireChangeable(client, { call, sent });
    // Another name is another thing.
    if (changed.isAnother) await deleteCounts(client, before.id);
    await updateSource(client, { ...changed, id: before.id });
    const { source: after } = await sourceFor(client, call);
    const changes = changedFields(before, after);
    await record(client, { ownerId, target: sourceTarget(after), changes });
    return after;
  });
}

async function requireChangeable(pg: Postgres, { call, sent }: { call: Managing; sent: SourceUpdate }) {
  const { ownerId, owner: ownerName, source: before } = await sourceFor(pg, call);
  requireMatch(call.ctx, entityTag(before));
  const { kind, name, enabled } = { ...before, ...sent };
  const isAnother = kind !== before.kind || name !== before.name;
  if (isAnother) requireNamePattern({ kind, name });
  const owner = { id: ownerId, name: ownerName };
  const packageId =
    sent.package === undefined
      ? (before.package_id ?? null)
      : await packageIdOf(pg, { account: call.account, owner, idOrName: sent.package });
  if (isAnother) await requireFree(pg, { ownerId, kind, name });
  return { ownerId, before, kind, name, packageId, enabled, isAnother };
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
