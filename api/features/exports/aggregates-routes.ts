import { rangeQuery } from "../../base/http/answers/range-query.js";
import { openAggregates } from "../../../aggregate/queries/open-aggregates.js";
import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import {
  AGGREGATE_V1,
  BREAKDOWNS,
  type Breakdown,
  EXPORT_FORMATS,
  type ExportFormat,
  MEDIA_TYPES,
} from "../../../schemas/contracts/aggregate.js";
import { type DateRange, RANGE_DAYS_MAX, parseDateRange } from "../../../schemas/date-range.js";
import { type ExportListener, type OpenRows, answerRows } from "../../base/http/answers/answer-rows.js";
import { artifactNamed } from "../../base/access/artifacts.js";
import { type Owner, ownerFor } from "../../base/access/authorise.js";
import { access } from "../../base/access/access.js";
import { EXPORT_HEADERS, formatOf } from "./exported-file.js";
import type { Parameters, QueryOf } from "../../base/http/answers/query-parameters.js";
import { negotiateFormat } from "../../base/http/answers/headers.js";
import { type ApiContext, type Operation, type Route, route } from "../../base/http/route.js";
import { readCompleteThrough } from "../imports/export-state.js";
import { type ListedPackage, listPackagesOfOwner } from "../../base/access/visible-packages.js";
import type { Postgres } from "../../base/postgres/query.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { PACKAGE_PROBLEMS, PACKAGE_QUERY, packageTypeOf } from "../packages/packages.js";

interface AggregateRoutesDeps {
  pg: Postgres;
  clickhouse: ResultSource;
  isSharded: boolean;
  listener?: ExportListener;
}

const PATHS = [
  { kind: "organization", path: "/v1/organizations/:owner/aggregates", hasEnding: false },
  { kind: "user", path: "/v1/users/:owner/aggregates", hasEnding: false },
  { kind: "organization", path: "/v1/organizations/:owner/aggregates.:format", hasEnding: true },
  { kind: "user", path: "/v1/users/:owner/aggregates.:format", hasEnding: true },
] as const;

const QUERY = {
  ...rangeQuery({ daysMax: RANGE_DAYS_MAX }),
  breakdown: {
    schema: { type: "array", items: { type: "string" } },
    description: `Return only these breakdowns. Repeat the parameter, or separate values with commas:  ${BREAKDOWNS.join(", ")}`,
    example: ["total,country"],
    sentence: `must be one or more of ${BREAKDOWNS.join(", ")}`,
    allows: (text) => text.split(",").every((name) => BREAKDOWNS.includes(name as Breakdown)),
  },
  package: { schema: { type: "string" }, description: "Return only this package (id or name)" },
  ...PACKAGE_QUERY,
  fields: {
    schema: { type: "string", enum: ["name"] },
    description: "Adds `package_name` to NDJSON lines. The other formats always include it",
    sentence: 'must be "name"',
  },
} as const satisfies Parameters;

export function aggregateRoutes(deps: AggregateRoutesDeps): Route[] {
  return PATHS.map(({ kind, path, hasEnding }) =>
    route({
      method: "GET",
      path,
      action: "export.read",
      operation: aggregatesOperation({ kind, hasEnding }),
      async handle({ ctx, account, action, query: sent, param, recordExports }) {
        const format = hasEnding
          ? formatOf(`aggregates.${param("format")}`)
          : negotiateFormat(ctx, EXPORT_FORMATS);
        const query = askedBy(sent);
        const owner = await ownerFor(deps.pg, account, param("owner"), action, { kind });
        const only = await answerAggregates(ctx, { owner, accountId: account.id, query, format }, deps);
        const changes = { export: "aggregates", format, ...query.range, package: only };
        recordExports({ ownerId: owner.id, target: owner, changes });
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

/** Answers the id of the package, where only one is asked for. */
async function answerAggregates(
  ctx: ApiContext,
  { owner, accountId, query, format }: Asked,
  { pg, clickhouse, isSharded, listener }: AggregateRoutesDeps,
): Promise<string | undefined> {
  const owned = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId });
  const packages = packagesOf(owned, query);
  // Read before the rows: the rows must contain all that the header promises.
  ctx.set("X-Complete-Through", await readCompleteThrough(pg, owner.id));
  const { range, breakdowns, named } = query;
  const open: OpenRows = (asked) =>
    openAggregates(clickhouse, { ...range, packages, breakdowns, format, named, isSharded, ...asked });
  await answerRows(ctx, open, { listener, format, zstd: true });
  return query.package === undefined ? undefined : packages[0]?.id;
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

interface AggregatesAsked {
  range: DateRange;
  breakdowns: readonly Breakdown[];
  /** Id or name; every package if absent. */
  package: string | undefined;
  packageType: LibraryType | undefined;
  /** Whether lines of NDJSON have the package's name. */
  named: boolean;
}

function askedBy({ breakdown, fields, ...query }: QueryOf<typeof QUERY>): AggregatesAsked {
  return {
    range: parseDateRange(query, { daysMax: RANGE_DAYS_MAX }),
    breakdowns: (breakdown?.flatMap((text) => text.split(",")) as Breakdown[] | undefined) ?? BREAKDOWNS,
    package: query.package,
    packageType: packageTypeOf(query),
    named: fields === "name",
  };
}

const EXAMPLE = {
  breakdown: "country",
  date: "2026-11-01",
  package: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  total: 12,
  country: "DE",
};

const SUMMARIES = {
  organization: "Export daily aggregates of an organization's packages",
  user: "Export daily aggregates of your packages",
};

const IDS = {
  organization: "exportOrganizationAggregates",
  user: "exportUserAggregates",
};

interface AggregatesPath {
  kind: keyof typeof SUMMARIES;
  /** Whether the format is the ending of the path, instead of in `Accept`. */
  hasEnding: boolean;
}

function aggregatesOperation({ kind, hasEnding }: AggregatesPath): Operation<typeof QUERY> {
  const format = hasEnding
    ? "in the format of the path's extension"
    : "in the format of `Accept` (default: NDJSON)";
  return {
    id: hasEnding ? `${IDS[kind]}File` : IDS[kind],
    summary: hasEnding ? `${SUMMARIES[kind]}, as a file` : SUMMARIES[kind],
    description:
      "The response is streamed, compressed on request (gzip, zstd), and ordered by package, date, " +
      "breakdown and value. If the export fails midway, the connection is closed. With `TE: trailers`, a " +
      "complete response ends with the trailer `X-Row-Count` (the number of rows), and zstd is not used.",
    ...(hasEnding && { path: ENDING }),
    query: QUERY,
    answers: {
      200: {
        description: `One aggregate per line or row, ${format}`,
        schema: AGGREGATE_V1,
        example: EXAMPLE,
        types: Object.values(MEDIA_TYPES),
        headers: EXPORT_HEADERS,
      },
    },
    problems: [...PACKAGE_PROBLEMS, "export-not-granted", "invalid-date", "empty-range", "range-too-long"],
  };
}

const ENDING = {
  format: {
    schema: { type: "string", enum: EXPORT_FORMATS },
    description: "Format of the export. `Accept` is ignored",
    example: "parquet",
  },
};
