import type { Pool } from "pg";
import {
  type SourceKind,
  type SourceRecord,
  parseSourceCreate,
  parseSourceUpdate,
} from "../../schemas/contracts/source.js";
import { dateAt } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/invalid-body.js";
import { changedFields } from "../access/audit-entries.js";
import { ownerFor } from "../access/authorise.js";
import { ownedPackageId } from "../access/owned-package.js";
import { lockOwner } from "../access/owners.js";
import { type Quotas, requireRoom } from "../access/quotas.js";
import { entityTag, requireMatch } from "../http/answers/headers.js";
import { readJson } from "../http/middleware/read-json.js";
import type { Call } from "../http/route.js";
import { inTransaction } from "../postgres/connection.js";
import { type Postgres, violates } from "../postgres/query.js";
import { type RegistryAccess, UnknownName, readRegistry } from "./read-registry.js";
import { REGISTRIES } from "./registries/registries.js";
import {
  countSources,
  deleteCounts,
  insertSource,
  sourceFor,
  sourceTarget,
  updateSource,
} from "./sources.js";

export interface SourceDeps {
  pg: Pool;
  access: RegistryAccess;
  quotas?: Quotas;
}

/** How long a caller waits for the registry to know a name. */
const LOOK_MS = 5_000;

type Managing = Call<"sources.manage">;

export async function createSource(
  { pg, access, quotas }: Required<SourceDeps>,
  { ctx, account, action, param, record }: Managing,
): Promise<SourceRecord> {
  const sent = await readJson(ctx, parseSourceCreate);
  const { kind, name, package: idOrName, enabled = true } = sent;
  // Checked before the registry is asked: only callers who may create a source can cause requests.
  await ownerFor(pg, account, param("owner"), action);
  await requireName(access, { kind, name });
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    requireRoom(quotas, "sources", { name: owner.name, count: await countSources(client, owner.id) });
    const packageId = await packageIdOf(client, { account, owner, idOrName });
    const id = await insertSource(client, { ownerId: owner.id, kind, name, packageId, enabled }).catch(
      taken(sent),
    );
    const of = (parameter: string) => (parameter === "source" ? id : owner.name);
    const { source } = await sourceFor(client, { account, action, param: of });
    await record(client, { ownerId: owner.id, target: sourceTarget(source), changes: sent });
    return source;
  });
}

export async function changeSource(
  { pg, access }: Omit<SourceDeps, "quotas">,
  call: Managing,
): Promise<SourceRecord> {
  const { ctx, account, param, record } = call;
  const sent = await readJson(ctx, parseSourceUpdate);
  const { source: known } = await sourceFor(pg, call);
  const named = { kind: sent.kind ?? known.kind, name: sent.name ?? known.name };
  if (named.kind !== known.kind || named.name !== known.name) await requireName(access, named);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { ownerId, owner, source: before } = await sourceFor(client, call);
    requireMatch(ctx, entityTag(before));
    const { kind, name, enabled } = { ...before, ...sent };
    const packageId =
      sent.package === undefined
        ? (before.package_id ?? null)
        : await packageIdOf(client, {
            account,
            owner: { id: ownerId, name: owner },
            idOrName: sent.package,
          });
    // Another name is another thing.
    if (kind !== before.kind || name !== before.name) await deleteCounts(client, before.id);
    await updateSource(client, { id: before.id, kind, name, packageId, enabled }).catch(
      taken({ kind, name }),
    );
    const { source: after } = await sourceFor(client, call);
    const changes = changedFields(before, after);
    await record(client, { ownerId, target: sourceTarget(after), changes });
    return after;
  });
}

interface Named {
  kind: SourceKind;
  name: string;
}

/** Throws `invalid-body`, and `unknown-name` where the registry answers in time that it has no such thing. */
async function requireName(access: RegistryAccess, { kind, name }: Named): Promise<void> {
  const { noun, name: rule } = REGISTRIES[kind];
  if (!rule.pattern.test(name))
    throw invalidBody([{ path: "/name", message: `must be a ${noun} of ${kind}, such as ${rule.example}` }]);
  const signal = AbortSignal.timeout(LOOK_MS);
  try {
    await readRegistry(access, { kind, name, today: dateAt(Date.now()), isLook: true, signal });
  } catch (error) {
    if (error instanceof UnknownName) throw new Problem("unknown-name", error.message);
    // The first run says what else is wrong, in `last_error`.
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

function taken({ kind, name }: Named) {
  return (error: unknown): never => {
    if (!violates(error, "sources_taken")) throw error;
    throw new Problem("already-exists", `There is a source ${kind} ${name} already.`);
  };
}
