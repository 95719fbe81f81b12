import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { openImportLog } from "../../aggregate/open-import-log.js";
import { answerRows, type ExportWatch } from "../answer-rows.js";
import { ownerFor } from "../authorise.js";
import { importOf, importOwnerFor } from "../import-of.js";
import { pageBody, parsePage } from "../paging.js";
import { route, type Route } from "../route.js";
import { readImportEntries } from "../stores/import-entries.js";
import { listImports } from "../stores/imports.js";

export interface ImportRecordRoutesDeps {
  pg: Pool;
  clickhouse: ClickHouseClient;
  watch?: ExportWatch;
}

export function importRecordRoutes({ pg, clickhouse, watch }: ImportRecordRoutesDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/imports/:owner",
      action: "imports.read",
      async handle({ ctx, account, action, param }) {
        const page = parsePage(ctx.query);
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        const rows = await listImports(pg, { ownerId, page });
        ctx.body = pageBody(ctx, { name: "event_imports", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "GET",
      path: "/v2/imports/:owner/:import",
      action: "imports.read",
      async handle({ ctx, account, action, param }) {
        const asked = { owner: param("owner"), id: param("import"), action };
        const ownerId = await importOwnerFor(pg, account, asked);
        ctx.body = await importOf(pg, { ownerId, id: asked.id });
      },
    }),
    ...(["log", "rejected"] as const).map((part) =>
      route({
        method: "GET",
        path: `/v2/imports/:owner/:import/${part}`,
        action: "imports.read",
        async handle({ ctx, account, action, param }) {
          const asked = { owner: param("owner"), id: param("import"), action };
          const ownerId = await importOwnerFor(pg, account, asked);
          const { id: importId } = await importOf(pg, { ownerId, id: asked.id });
          await answerRows(ctx, (signal) => OPEN[part]({ pg, clickhouse }, { importId, signal }), watch);
        },
      }),
    ),
  ];
}

interface Asked {
  importId: string;
  signal: AbortSignal;
}

/** What is read here is a stream: the log of an import may be as long as the import. */
const OPEN = {
  /** What is said about the whole import comes first, as line 0. */
  async log({ pg, clickhouse }: ImportRecordRoutesDeps, { importId, signal }: Asked) {
    const entries = await readImportEntries(pg, importId);
    const lines = await openImportLog(clickhouse, { importId, what: "import-log", signal });
    return startingWith(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), lines);
  },
  rejected: ({ clickhouse }: ImportRecordRoutesDeps, { importId, signal }: Asked) =>
    openImportLog(clickhouse, { importId, what: "rejected-lines", signal }),
};

async function* startingWith(start: string, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (start !== "") yield Buffer.from(start);
  yield* rest;
}
