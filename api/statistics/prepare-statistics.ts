import type { StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import type { Account } from "../access/access.js";
import type { Changed } from "../access/audit-entries.js";
import type { OwnerAction } from "../access/resources.js";
import { type Owner, packageFor, requireExportOf, requireScope } from "../access/authorise.js";
import { SHARED_MS } from "../http/limit-work.js";
import type { ApiContext } from "../http/route.js";
import { readExportState } from "../imports/export-state.js";
import { readPixel } from "../pixels/pixels.js";
import type { Postgres } from "../postgres/query.js";
import type { StatisticsAsked } from "./parse-statistics-query.js";
import { eventsFromIn } from "./statistics-answer.js";
import { ownerInPartFor, type Scope, statisticsScope } from "./statistics-scope.js";

interface Asked {
  owner: string;
  account: Account;
  action: OwnerAction;
  asked: StatisticsAsked;
  format: Format;
  /** Also without filters and pixels. */
  readsEvents?: boolean;
}

interface Prepared {
  scope: Scope;
  /** What is to be recorded of an export; undefined for an answer that is none. */
  exported: Changed | undefined;
  completeThrough: string;
  eventsFrom: string | undefined;
  query: Omit<StatisticsQuery, "signal">;
  /** Whether no import was started, aborted or retracted shortly before: who asks again meanwhile gets the same numbers. */
  isResting: boolean;
}

/**
 * Admits the caller to the numbers, as to their export where that is asked for. The state of the owner's imports is read
 * before the events: they must contain all that it promises.
 */
export async function prepareStatistics(
  pg: Postgres,
  { owner: name, account, action, asked, format, readsEvents }: Asked,
): Promise<Prepared> {
  const part = await ownerInPartFor(pg, account, name, action);
  const scope = await statisticsScope(pg, part, asked);
  const exported = await admitFormat(pg, account, { owner: part.owner, asked, scope, format });
  const since = new Date(Date.now() - SHARED_MS).toISOString();
  const { completeThrough, unsettled, eventsFrom } = await readExportState(pg, [part.owner.id], { since });
  const { range, before, compared, beforeUntil, filters, automated } = asked;
  return {
    scope,
    exported,
    completeThrough,
    eventsFrom: eventsFromIn(asked, { scope, eventsFrom, readsEvents }),
    query: { ...scope, range, before, compared, beforeUntil, filters, automated, unsettled },
    isResting: !unsettled.changed,
  };
}

export type Format = "json" | "csv";

export function formatOf(ctx: ApiContext): Format {
  ctx.vary("Accept");
  return ctx.accepts("application/json", "text/csv") === "text/csv" ? "csv" : "json";
}

/** CSV leaves the service as a file: it is an export, of the package alone where one is asked for. */
async function admitFormat(
  pg: Postgres,
  account: Account,
  { owner, asked, scope, format }: Pick<Asked, "asked" | "format"> & { owner: Owner; scope: Scope },
): Promise<Changed | undefined> {
  if (format !== "csv") return undefined;
  const [id] = scope.packages;
  const pixel = asked.pixel === undefined ? undefined : scope.pixels[0];
  const row = pixel && (await readPixel(pg, { accountId: account.id, id: pixel }));
  // With its package, of which the audit log says nothing to the blocked.
  const of = row && { pixel, package_id: row.packageId ?? undefined };
  const changes = { export: "statistics", format, ...asked.range, ...of };
  if (asked.package === undefined || id === undefined) {
    await requireExportOf(pg, account, owner.name);
    return { ownerId: owner.id, target: owner, changes };
  }
  requireScope(account, "packages.export");
  const { name } = await packageFor(pg, account, id, "packages.export");
  return { ownerId: owner.id, target: { kind: "package", id, name }, changes };
}
