import type { Pool } from "pg";
import type { ActiveUploads } from "../../../ingest/import/active-uploads.js";
import { isUuid } from "../../../schemas/formats.js";
import { EVENT_IMPORT } from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import { type ApiListener, NO_LISTENER } from "../../base/http/api-listener.js";
import { ID, IMPORT_EXAMPLE } from "./import-operations.js";
import { importOf, importOwnerFor, noImport } from "./import-of.js";
import { type ApiContext, type Call, type Route, route } from "../../base/http/route.js";
import {
  type OwnedImport,
  type RecordEnding,
  abortImport,
  isRetracting,
  retractImport,
} from "./import-endings.js";
import { pause } from "../../../schemas/async/pause.js";
import { putLocation } from "../../base/http/answers/headers.js";

interface ImportEndingRoutesDeps {
  pg: Pool;
  active: ActiveUploads;
  listener?: Pick<ApiListener, "onImportEnded">;
  /** How long a retraction waits for settlement before it answers 202. */
  retractionMsMax?: number;
}

/** A hundred thousand events take a few seconds. Clients wait half a minute and longer. */
const RETRACTION_MS_MAX = 15_000;

const RETRACTING = {
  description:
    `Removing the events takes longer than ${RETRACTION_MS_MAX / 1000} s and continues in the background. Event exports no ` +
    "longer contain them; aggregates contain them until the status of the import is no longer " +
    "`retracting`",
  schema: EVENT_IMPORT,
  example: { ...IMPORT_EXAMPLE, status: "retracting" },
};

export function importEndingRoutes({
  pg,
  active,
  listener = NO_LISTENER,
  retractionMsMax: msMax = RETRACTION_MS_MAX,
}: ImportEndingRoutesDeps): Route[] {
  return [
    route({
      method: "POST",
      path: "/v2/imports/:owner/:import/abort",
      action: "imports.abort",
      operation: {
        id: "abortImport",
        summary: "Abort an import",
        description:
          "Events that are already imported are kept. With `retract=true` they are removed as well, and " +
          "the responses are the same as for retracting an import. Aborting an import twice changes " +
          "nothing.",
        path: { import: ID },
        query: {
          retract: {
            schema: { type: "boolean", default: false },
            description: "Also retract the events that are already imported",
          },
        },
        answers: { 202: RETRACTING, 204: { description: "Import aborted" } },
        problems: ["already-finished"],
      },
      async handle({ ctx, account, action, query: { retract }, param, record }) {
        const id = param("import");
        const ownerId = await importOwnerFor(pg, account, {
          owner: param("owner"),
          id,
          action,
          reachesLines: true,
        });
        const end = { retract, record: recording(record, { ownerId, id }) };
        const before = isUuid(id) ? await abortImport(pg, { ownerId, id }, end) : undefined;
        if (before === undefined) throw noImport(id);
        if (before === "done")
          throw new Problem("already-finished", "The import is done. Use DELETE to retract it.");
        if (before === "importing") listener.onImportEnded("aborted");
        active.abort(id);
        await answerRetraction(ctx, { ownerId, owner: param("owner"), id }, { pg, msMax });
      },
    }),
    route({
      method: "DELETE",
      path: "/v2/imports/:owner/:import",
      action: "imports.retract",
      operation: {
        id: "retractImport",
        summary: "Retract an import",
        description:
          "Removes the events of a finished or aborted import and restores events they had replaced. " +
          "After a 204 response, no export, aggregate or statistic contains them.",
        path: { import: ID },
        answers: { 202: RETRACTING, 204: { description: "Import retracted" } },
        problems: ["import-in-progress"],
      },
      async handle({ ctx, account, action, param, record }) {
        const id = param("import");
        const ownerId = await importOwnerFor(pg, account, {
          owner: param("owner"),
          id,
          action,
          reachesLines: true,
        });
        const end = { record: recording(record, { ownerId, id }) };
        const before = isUuid(id) ? await retractImport(pg, { ownerId, id }, end) : undefined;
        if (before === undefined) throw noImport(id);
        if (before === "importing")
          throw new Problem(
            "import-in-progress",
            "The import is still running. Abort it first, or abort it with ?retract=true to remove its events as well.",
          );
        await answerRetraction(ctx, { ownerId, owner: param("owner"), id }, { pg, msMax });
      },
    }),
  ];
}

function recording(record: Call["record"], { ownerId, id }: OwnedImport): RecordEnding {
  return (client, { name, changes }) =>
    record(client, { ownerId, target: { kind: "import", id: id.toLowerCase(), name }, changes });
}

const POLL_MS = 50;

interface RetractionWait {
  pg: Pool;
  msMax: number;
}

/** 204 once the events are gone from every breakdown; 202 with the `retracting` record when that takes longer. */
async function answerRetraction(
  ctx: ApiContext,
  ended: OwnedImport & { owner: string },
  { pg, msMax }: RetractionWait,
): Promise<void> {
  for (const until = performance.now() + msMax; await isRetracting(pg, ended);) {
    if (performance.now() >= until) {
      const record = await importOf(pg, ended);
      if (record.status !== "retracting") break;
      ctx.status = 202;
      putLocation(ctx, `/v2/imports/${encodeURIComponent(ended.owner)}/${ended.id}`);
      ctx.body = record;
      return;
    }
    await pause(POLL_MS);
  }
  ctx.status = 204;
}
