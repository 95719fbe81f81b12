import { rangeQuery } from "../../base/http/answers/range-query.js";
import { MEDIA_TYPES } from "../../../schemas/contracts/aggregate.js";
import { REPORTED_DAYS, REPORTED_LINE, type ReportedDays } from "../../../schemas/contracts/source.js";
import {
  type DateRange,
  RANGE_DAYS_MAX,
  daysBetween,
  parseDateRange,
  parseOptionalDateRange,
} from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { type Owner, ownerFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import { negotiateFormat } from "../../base/http/answers/headers.js";
import { type ExportListener, answerRows } from "../../base/http/answers/answer-rows.js";
import type { Parameters } from "../../base/http/answers/query-parameters.js";
import { type Call, type Operation, type Route, route } from "../../base/http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import type { Postgres } from "../../base/postgres/query.js";
import { RANGE_LIMITS } from "../../../schemas/contracts/statistics.js";
import { type ReportedDay, readReported, readReportedDays } from "./reported-counts.js";
import { REPORTED_FORMATS, type ReportedFormat, writeReported } from "./reported-file.js";
import { readSource } from "./sources.js";

interface ReportedDeps {
  pg: Postgres;
  listener?: ExportListener;
}

const OF_PACKAGE = {
  package: { schema: { type: "string" }, description: "Return only sources of this package (id or name)" },
} as const satisfies Parameters;

const EXPORT_QUERY = {
  ...rangeQuery({ daysMax: RANGE_DAYS_MAX }),
  source: {
    schema: { type: "string", format: "uuid" },
    description: "Return only this source",
    sentence: "must be a UUID",
  },
  ...OF_PACKAGE,
} as const satisfies Parameters;

export function reportedRoutes({ pg, listener }: ReportedDeps): Route[] {
  return [
    ...[false, true].map((hasEnding) =>
      route({
        method: "GET",
        path: `/v2/:owner/reported${hasEnding ? ".:format" : ""}`,
        action: "export.read",
        operation: reportedOperation({ hasEnding }),
        async handle(call) {
          const { ctx, account, recordExports } = call;
          const format = hasEnding
            ? formatNamed(call.param("format"))
            : negotiateFormat(ctx, REPORTED_FORMATS);
          const range = parseDateRange(call.query, { daysMax: RANGE_DAYS_MAX });
          const { owner, ...only } = await askedFor(pg, call, call.query);
          const asked = { accountId: account.id, ownerId: owner.id, range, ...only };
          await answerRows(ctx, async () => writeReported(readReported(pg, asked), format), {
            listener,
            format,
          });
          const changes = {
            export: "reported",
            format,
            ...range,
            source: only.sourceId,
            package: only.packageId,
          };
          recordExports({ ownerId: owner.id, target: owner, changes });
        },
      }),
    ),
    route({
      method: "GET",
      path: "/v2/:owner/stats/reported",
      action: "stats.read",
      operation: READ_REPORTED,
      async handle(call) {
        const { ctx, account } = call;
        const { daysMax, daysDefault } = RANGE_LIMITS;
        const range = parseOptionalDateRange(call.query, { daysMax, daysDefault, now: new Date() });
        const { owner, packageId } = await askedFor(pg, call, { package: call.query.package });
        const days = await readReportedDays(pg, {
          accountId: account.id,
          ownerId: owner.id,
          range,
          packageId,
        });
        ctx.body = reportedDays(range, days);
      },
    }),
  ];
}

type Asking = Pick<Call<"export.read" | "stats.read">, "account" | "action" | "param">;

interface AskedFor {
  owner: Owner;
  sourceId?: string;
  packageId?: string;
}

/** Throws `not-found` also for a source or package that the caller may not see, and `invalid-query`. */
async function askedFor(
  pg: Postgres,
  { account, action, param }: Asking,
  { source: sourceId, package: idOrName }: { source?: string | undefined; package: string | undefined },
): Promise<AskedFor> {
  const owner = await ownerFor(pg, account, param("owner"), action);
  const source =
    sourceId === undefined
      ? undefined
      : await readSource(pg, { accountId: account.id, ownerId: owner.id, id: sourceId });
  if (sourceId !== undefined && source === undefined)
    throw new Problem("not-found", `The source ${sourceId} does not exist, or you do not have access to it.`);
  const found =
    idOrName === undefined
      ? undefined
      : await packageOfOwnerFor(pg, account, { owner: owner.name, idOrName }, "packages.read");
  return { owner, ...(source && { sourceId: source.id }), ...(found && { packageId: found.id }) };
}

function formatNamed(ending: string): ReportedFormat {
  const format = REPORTED_FORMATS.find((each) => each === ending);
  if (format !== undefined) return format;
  const endings = REPORTED_FORMATS.map((each) => `.${each}`).join(", ");
  throw new Problem("not-found", `Unknown export format: the name must end in one of ${endings}.`);
}

/** One number a day and source; null on a day without a value. */
function reportedDays({ startDate, endDate }: DateRange, rows: readonly ReportedDay[]): ReportedDays {
  const length = daysBetween(startDate, endDate);
  const series = new Map<string, ReportedDays["sources"][number]>();
  for (const { source, kind, name, packageId, metric, date, value } of rows) {
    const key = `${source} ${metric}`;
    const found = series.get(key) ?? {
      source,
      kind,
      name,
      ...(packageId !== null && { package_id: packageId }),
      metric,
      total: 0,
      days: Array.from({ length }, () => null),
    };
    series.set(key, found);
    found.total += value ?? 0;
    found.days[daysBetween(startDate, date)] = value;
  }
  return { start_date: startDate, end_date: endDate, sources: [...series.values()] };
}

const LINE_EXAMPLE = {
  source: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  kind: "npm",
  name: "left-pad",
  package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  date: "2026-08-04",
  metric: "downloads",
  value: 1204,
  first_value: 0,
  fetched_at: "2026-08-06T05:41:07.310026Z",
  changed_at: "2026-08-06T05:41:07.310026Z",
};

function reportedOperation({ hasEnding }: { hasEnding: boolean }): Operation<typeof EXPORT_QUERY> {
  return {
    id: hasEnding ? "exportReportedFile" : "exportReported",
    tag: "Sources",
    summary: `Export registry counts by source, date and version${hasEnding ? ", as a file" : ""}`,
    description:
      "The registries' own counts, including later corrections; `first_value` is the count that the " +
      "registry first returned. These counts are never part of aggregates and statistics.",
    ...(hasEnding && {
      path: {
        format: {
          schema: { type: "string", enum: REPORTED_FORMATS },
          description: "Format of the export. `Accept` is ignored",
          example: "csv",
        },
      },
    }),
    query: EXPORT_QUERY,
    answers: {
      200: {
        description: "One count per line or row",
        schema: REPORTED_LINE,
        example: LINE_EXAMPLE,
        types: REPORTED_FORMATS.map((format) => MEDIA_TYPES[format]),
      },
    },
    problems: [...PACKAGE_PROBLEMS, "export-not-granted", "invalid-date", "empty-range", "range-too-long"],
  };
}

const READ_REPORTED = {
  id: "readReported",
  tag: "Sources",
  summary: "Get registry counts by source and day",
  description:
    `Covers the last ${RANGE_LIMITS.daysDefault} days unless a range is given. Use it for charts next to ` +
    "the statistics. Omits sources of packages you cannot read.",
  query: {
    startDate: { ...rangeQuery({ daysMax: RANGE_LIMITS.daysMax }).startDate, required: false },
    endDate: { ...rangeQuery({ daysMax: RANGE_LIMITS.daysMax }).endDate, required: false },
    ...OF_PACKAGE,
  },
  answers: {
    200: {
      description: "Sources with counts in the range",
      schema: REPORTED_DAYS,
      example: {
        start_date: "2026-11-01",
        end_date: "2026-11-04",
        sources: [
          {
            source: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
            kind: "npm",
            name: "left-pad",
            package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
            metric: "downloads",
            total: 42,
            days: [12, 30, null],
          },
        ],
      },
    },
  },
  problems: [...PACKAGE_PROBLEMS, "invalid-date", "empty-range", "range-too-long"],
} as const satisfies Operation;
