import { rangeQuery } from "../../base/http/answers/range-query.js";
import { type ExportedArtifact, openEvents } from "../../../aggregate/queries/events/open-events.js";
import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import { type DateRange, parseDateRange } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { type ExportListener, answerRows } from "../../base/http/answers/answer-rows.js";
import { packageFor } from "../../base/access/authorise.js";
import { EXPORT_HEADERS, type ExportedFile, parseExportedFile } from "./exported-file.js";
import { PACKAGE_PATH, PACKAGE_PROBLEMS, PACKAGE_QUERY, packageTypeOf } from "../packages/packages.js";
import { listPixelsOfPackage, pixelsForExport } from "./exported-pixels.js";
import type { Parameters } from "../../base/http/answers/query-parameters.js";
import { type ApiContext, type Operation, type Route, route } from "../../base/http/route.js";
import { readExportState } from "../imports/export-state.js";
import type { Postgres } from "../../base/postgres/query.js";
import { EVENT_ROW } from "../../../aggregate/queries/events/event-columns.js";
import { MEDIA_TYPES } from "../../../schemas/contracts/aggregate.js";

const DAYS_MAX = 31;

interface EventRoutesDeps {
  pg: Postgres;
  clickhouse: ResultSource;
  listener?: ExportListener;
}

export function eventRoutes(deps: EventRoutesDeps): Route[] {
  const { pg } = deps;
  return [
    route({
      method: "GET",
      path: "/v1/packages/:package/events/:filename",
      action: "packages.export",
      operation: eventsOperation("package", { query: { ...RANGE, ...PACKAGE_QUERY } }),
      async handle({ ctx, account, action, query, param, recordExports }) {
        const file = parseExportedFile(param("filename"));
        const type = packageTypeOf(query);
        const range = parseDateRange(query, { daysMax: DAYS_MAX });
        const { id, ownerId, name } = await packageFor(pg, account, param("package"), action, { type });
        const pixels = await listPixelsOfPackage(pg, id);
        const artifacts = [{ id }, ...pixels].map((each) => ({ id: each.id, packageName: name }));
        await answerEvents(ctx, { file, range, artifacts, ownerIds: [ownerId] }, deps);
        const changes = { export: "events", format: file.format, ...range };
        recordExports({ ownerId, target: { kind: "package", id, name }, changes });
      },
    }),
    route({
      method: "GET",
      path: "/v1/pixels/events/:filename",
      action: "export.read",
      operation: eventsOperation("pixels", { query: RANGE }),
      async handle({ ctx, account, action, query, param, recordExports }) {
        const file = parseExportedFile(param("filename"));
        const range = parseDateRange(query, { daysMax: DAYS_MAX });
        const { owners, artifacts } = await pixelsForExport(pg, account, action);
        await answerEvents(ctx, { file, range, artifacts, ownerIds: owners.map(({ id }) => id) }, deps);
        const changes = { export: "events of pixels", format: file.format, ...range };
        recordExports(...owners.map((owner) => ({ ownerId: owner.id, target: owner, changes })));
      },
    }),
  ];
}

/** An answer with a part of the days would look like all of them. */
function requireKept({ startDate }: DateRange, eventsFrom: string | undefined): void {
  if (eventsFrom === undefined || startDate >= eventsFrom) return;
  throw new Problem(
    "no-longer-kept",
    `Events before ${eventsFrom} have expired. Use ${eventsFrom} or later as startDate. Aggregates still ` +
      "cover the earlier days.",
  );
}

interface Asked {
  file: ExportedFile;
  range: DateRange;
  artifacts: readonly ExportedArtifact[];
  ownerIds: readonly string[];
}

async function answerEvents(
  ctx: ApiContext,
  { file, range, artifacts, ownerIds }: Asked,
  { pg, clickhouse, listener }: EventRoutesDeps,
): Promise<void> {
  const { format, name } = file;
  // Read before the rows: the rows must contain all that the header promises.
  const before = await readExportState(pg, ownerIds);
  requireKept(range, before.eventsFrom);
  const since = before.completeThrough;
  ctx.set("X-Complete-Through", since);
  const unsettled = async () => {
    const now = await readExportState(pg, ownerIds, { since });
    return { ...now.unsettled, changed: now.unsettled.changed || before.unsettled.imports.length > 0 };
  };
  const query = { ...range, artifacts, unsettled, format };
  await answerRows(ctx, (asked) => openEvents(clickhouse, { ...query, ...asked }), {
    listener,
    format,
    zstd: true,
  });
  // Set once nothing can refuse the request: browsers would save a refusal as a file.
  ctx.set("Content-Disposition", `attachment; filename="${name}"`);
}

const EXAMPLE = {
  type: "file-download",
  package: "tools",
  version: "1.4.0",
  time: "2026-11-01T08:00:00.000000Z",
  user_agent: "curl/8.5.0",
  variables: "os=linux",
  origin_country: "DE",
  id: "722f4f73cf197a447837a7f913a10100",
};

const FILE = {
  filename: {
    schema: { type: "string", pattern: "\\.(csv|ndjson|parquet|arrow)$" },
    description:
      "Any name. Its extension selects the format: `.csv` (RFC 4180, with a header), `.ndjson`, " +
      "`.parquet` or `.arrow`",
    example: "events.csv",
  },
};

const RANGE = rangeQuery({ daysMax: DAYS_MAX });

const SUMMARIES = {
  package: "Export events of a package and its pixels",
  pixels: "Export events of all pixels",
};

function eventsOperation<Query extends Parameters>(
  of: keyof typeof SUMMARIES,
  { query }: { query: Query },
): Operation<Query> {
  const ofPackage = of === "package";
  return {
    id: ofPackage ? "exportPackageEvents" : "exportPixelEvents",
    tag: "Exports",
    summary: SUMMARIES[of],
    description:
      "The response is streamed in no particular order and compressed on request (gzip, zstd). Replaced " +
      "and retracted events are not included. New columns may be added at the end. If the export fails " +
      "midway, the connection is closed. With `TE: trailers`, a complete response ends with the trailer " +
      "`X-Row-Count` (the number of rows), and zstd is not used.",
    path: { ...(ofPackage && PACKAGE_PATH), ...FILE },
    query,
    answers: {
      200: {
        description: "One row per event",
        schema: EVENT_ROW,
        example: EXAMPLE,
        types: Object.values(MEDIA_TYPES),
        headers: {
          ...EXPORT_HEADERS,
          "Content-Disposition": {
            schema: { type: "string" },
            required: true,
            description: "The file name from the path, without unsafe characters",
          },
        },
      },
    },
    problems: [
      ...(ofPackage ? PACKAGE_PROBLEMS : []),
      "not-found",
      "export-not-granted",
      "invalid-date",
      "empty-range",
      "range-too-long",
      "no-longer-kept",
    ],
  };
}
