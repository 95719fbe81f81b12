import type { StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import type { Account } from "../../base/access/access.js";
import type { Changed } from "../../base/access/audit-entries.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { type Owner, packageFor, requireExportOf, requireScope } from "../../base/access/authorise.js";
import type { RunLimited } from "../../base/http/limit-work.js";
import type { ApiContext, Call } from "../../base/http/route.js";
import { type ExportState, readExportState } from "../imports/export-state.js";
import { readPixel } from "../packages/pixels.js";
import type { Postgres } from "../../base/postgres/query.js";
import { type StatisticsAsked, type StatisticsSent, statisticsAsked } from "./statistics-asked.js";
import { eventsFromIn } from "./statistics-answer.js";
import { ownerInPartFor, type Scope, statisticsScope } from "./statistics-scope.js";

type StatisticsCall = Pick<Call<OwnerAction>, "ctx" | "account" | "action" | "param"> & {
  query: StatisticsSent;
};

/** What numbers are read with: the caller's query, and the state of the owner's imports right before. */
interface Reading {
  completeThrough: string;
  eventsFrom: string | undefined;
  query: StatisticsQuery;
}

interface Prepared {
  asked: StatisticsAsked;
  format: Format;
  scope: Scope;
  /** What is to be recorded of an export; undefined for an answer that is none. */
  exported: Changed | undefined;
  /** Shares what is read with those who ask for the same. `of` says what it is, besides the query. CSV is not shared. */
  readOnce: <Read extends object>(of: unknown, read: (reading: Reading) => Promise<Read>) => Promise<Read>;
}

/**
 * Reads the query, and admits the caller to the numbers, or to their export as CSV. `readsEvents`: whether the numbers come
 * from events even without filters and pixels.
 */
export async function prepareStatistics(
  pg: Postgres,
  runLimited: RunLimited,
  call: StatisticsCall,
  readsEvents: (asked: StatisticsAsked) => boolean = () => false,
): Promise<Prepared> {
  const { ctx, account, action, param } = call;
  const asked = statisticsAsked(call.query, { query: ctx.query, now: new Date() });
  const format = formatOf(ctx);
  const part = await ownerInPartFor(pg, account, param("owner"), action);
  const { owner } = part;
  const scope = await statisticsScope(pg, part, asked);
  const exported = await admitFormat(pg, account, { owner, asked, scope, format });
  const { range, before, compared, beforeUntil, filters, automated } = asked;
  return {
    asked,
    format,
    scope,
    exported,
    readOnce(of, read) {
      // A file may have very many rows: kept for others, several of them would fill the memory.
      const key = format === "json" ? JSON.stringify([of, owner.id, scope, asked]) : undefined;
      return runLimited(ctx, { caller: account.id, key }, async (signal, reuse) => {
        // Read before the events: they must contain all that it promises.
        const state = await readExportState(pg, [owner.id]);
        const { completeThrough, unsettled } = state;
        const eventsFrom = eventsFromIn(asked, {
          scope,
          eventsFrom: state.eventsFrom,
          readsEvents: readsEvents(asked),
        });
        const filtered = { range, before, compared, beforeUntil, filters, automated };
        const query = { ...scope, ...filtered, unsettled, signal };
        return reuse(stateKey(state), () => read({ completeThrough, eventsFrom, query }));
      });
    },
  };
}

/**
 * Equal for answers that promise the same. How far an import under way has come is left out: it is not promised before
 * the import is settled.
 */
function stateKey({ unsettled, eventsFrom, lastSettled }: ExportState): string {
  const { imports, retracted, erasures } = unsettled;
  return JSON.stringify([imports, retracted, erasures, eventsFrom, lastSettled]);
}

export type Format = "json" | "csv";

function formatOf(ctx: ApiContext): Format {
  ctx.vary("Accept");
  return ctx.accepts("application/json", "text/csv") === "text/csv" ? "csv" : "json";
}

/** CSV leaves the service as a file: it is an export, of the package alone where one is asked for. */
async function admitFormat(
  pg: Postgres,
  account: Account,
  { owner, asked, scope, format }: Pick<Prepared, "asked" | "format" | "scope"> & { owner: Owner },
): Promise<Changed | undefined> {
  if (format !== "csv") return undefined;
  const [id] = scope.packages;
  const pixel = asked.pixel === undefined ? undefined : scope.pixels[0];
  const row = pixel && (await readPixel(pg, { accountId: account.id, id: pixel }));
  // With its package, of which the audit log says nothing to the blocked.
  const of = row && { pixel, package_id: row.package_id ?? undefined };
  const changes = { export: "statistics", format, ...asked.range, ...of };
  if (asked.package === undefined || id === undefined) {
    await requireExportOf(pg, account, owner.name);
    return { ownerId: owner.id, target: owner, changes };
  }
  requireScope(account, "packages.export");
  const { name } = await packageFor(pg, account, id, "packages.export");
  return { ownerId: owner.id, target: { kind: "package", id, name }, changes };
}
