import { openAggregates } from "../../aggregate/queries/open-aggregates.js";
import type { ResultSource } from "../../aggregate/queries/open-rows.js";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";
import { RANGE_DAYS_MAX } from "../../schemas/date-range.js";
import { answerRows, type ExportListener, type OpenRows } from "../http/answers/answer-rows.js";
import { artifactNamed } from "../access/artifact-named.js";
import { ownerFor, type Owner } from "../access/authorise.js";
import { access } from "../access/access.js";
import { aggregatesOperation } from "./aggregates-operation.js";
import { formatOf } from "./exported-file.js";
import { parseAggregatesQuery, type AggregatesAsked } from "./parse-aggregates-query.js";
import { negotiateFormat } from "../http/answers/negotiate-format.js";
import { route, type ApiContext, type Route } from "../http/route.js";
import { readCompleteThrough } from "../imports/complete-through.js";
import { listPackagesOfOwner, type ListedPackage } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";

export interface AggregateRoutesDeps {
  pg: Postgres;
  clickhouse: ResultSource;
  listener?: ExportListener;
}

const PATHS = [
  { kind: "organization", path: "/v1/organizations/:owner/aggregates", hasEnding: false },
  { kind: "user", path: "/v1/users/:owner/aggregates", hasEnding: false },
  { kind: "organization", path: "/v1/organizations/:owner/aggregates.:format", hasEnding: true },
  { kind: "user", path: "/v1/users/:owner/aggregates.:format", hasEnding: true },
] as const;

export function aggregateRoutes(deps: AggregateRoutesDeps): Route[] {
  return PATHS.map(({ kind, path, hasEnding }) =>
    route({
      method: "GET",
      path,
      action: "export.read",
      operation: aggregatesOperation({ kind, hasEnding }, { daysMax: RANGE_DAYS_MAX }),
      async handle({ ctx, account, action, param }) {
        const format = hasEnding ? formatOf(`aggregates.${param("format")}`) : negotiateFormat(ctx);
        const query = parseAggregatesQuery(ctx.query, { daysMax: RANGE_DAYS_MAX });
        const owner = await ownerFor(deps.pg, account, param("owner"), action, { kind });
        await answerAggregates(ctx, { owner, accountId: account.id, query, format }, deps);
      },
    }),
  );
}

interface Asked {
  owner: Owner;
  accountId: string;
  query: AggregatesAsked;
  format: ExportFormat;
}

async function answerAggregates(
  ctx: ApiContext,
  { owner, accountId, query, format }: Asked,
  { pg, clickhouse, listener }: AggregateRoutesDeps,
): Promise<void> {
  const owned = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId });
  const packages = packagesOf(owned, query);
  // Read before the rows: the rows must contain all that the header promises.
  ctx.set("X-Complete-Through", await readCompleteThrough(pg, owner.id));
  const { range, breakdowns, named } = query;
  const open: OpenRows = (asked) =>
    openAggregates(clickhouse, { ...range, packages, breakdowns, format, named, ...asked });
  await answerRows(ctx, open, { listener, format, zstd: true });
}

/** The packages that the caller may export, or the one that is asked for. */
function packagesOf(
  owned: readonly ListedPackage[],
  { package: idOrName, packageType }: Pick<AggregatesAsked, "package" | "packageType">,
): ListedPackage[] {
  const exported = owned
    .filter((row) => access(row, "packages.export", row) === "allowed")
    .filter(({ libraryType }) => packageType === undefined || libraryType === packageType);
  return idOrName === undefined ? exported : [artifactNamed("package", idOrName, exported)];
}
