import { openEvents, type ExportedArtifact } from "../../aggregate/queries/events/open-events.js";
import type { ResultSource } from "../../aggregate/queries/open-rows.js";
import { parseDateRange, type DateRange } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import { answerRows, type ExportListener } from "../http/answers/answer-rows.js";
import { packageFor } from "../access/authorise.js";
import { eventsOperation } from "./event-operations.js";
import { parseExportedFile, type ExportedFile } from "./exported-file.js";
import { parsePackageType } from "../packages/package-path.js";
import { pixelsForExport } from "./pixels-for-export.js";
import { route, type ApiContext, type Route } from "../http/route.js";
import { readExportState } from "../imports/export-state.js";
import { listPixelsOfPackage } from "../pixels/exported-pixels.js";
import type { Postgres } from "../postgres/query.js";

const DAYS_MAX = 31;

export interface EventRoutesDeps {
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
      operation: eventsOperation("package", { daysMax: DAYS_MAX }),
      async handle({ ctx, account, action, param }) {
        const file = parseExportedFile(param("filename"));
        const type = parsePackageType(ctx.query);
        const range = parseDateRange(ctx.query, { daysMax: DAYS_MAX });
        const { id, ownerId, name } = await packageFor(pg, account, param("package"), action, { type });
        const pixels = await listPixelsOfPackage(pg, id);
        const artifacts = [{ id }, ...pixels].map((each) => ({ id: each.id, packageName: name }));
        await answerEvents(ctx, { file, range, artifacts, ownerIds: [ownerId] }, deps);
      },
    }),
    route({
      method: "GET",
      path: "/v1/pixels/events/:filename",
      action: "export.read",
      operation: eventsOperation("pixels", { daysMax: DAYS_MAX }),
      async handle({ ctx, account, action, param }) {
        const file = parseExportedFile(param("filename"));
        const range = parseDateRange(ctx.query, { daysMax: DAYS_MAX });
        const { ownerIds, artifacts } = await pixelsForExport(pg, account, action);
        await answerEvents(ctx, { file, range, artifacts, ownerIds }, deps);
      },
    }),
  ];
}

/** An answer with a part of the days would look like all of them. */
function requireKept({ startDate }: DateRange, eventsFrom: string | undefined): void {
  if (eventsFrom === undefined || startDate >= eventsFrom) return;
  throw new Problem(
    "no-longer-kept",
    `Events before ${eventsFrom} are no longer kept: begin with that day. The aggregates still have the days before.`,
  );
}

interface Asked {
  file: ExportedFile;
  range: DateRange;
  artifacts: readonly ExportedArtifact[];
  /** The owners of the artifacts. */
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
