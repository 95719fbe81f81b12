import type { Pool } from "pg";
import { openImportLog, readImportFaults } from "../../../aggregate/queries/open-import-log.js";
import type { ResultSource, Rows } from "../../../aggregate/queries/open-rows.js";
import { IMPORT_FAULTS, type ImportFault, LOG_ENTRY } from "../../../schemas/records/import-log.js";
import { EVENT_IMPORT } from "../../../schemas/records/import-store.js";
import { type ExportListener, answerRows } from "../../base/http/answers/answer-rows.js";
import { ownerFor } from "../../base/access/authorise.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { FILTER_QUERY, importFilterFor, requireOneArtifact, importOf, importOwnerFor } from "./import-of.js";
import { ID, IMPORT_EXAMPLE } from "./import-operations.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../../base/http/answers/paging.js";
import { readImportEntries } from "./import-record.js";
import { listImports } from "./imports.js";
import type { ClickHouse } from "../../../schemas/shards.js";

interface ImportRecordRoutesDeps {
  pg: Pool;
  clickhouse: ResultSource;
  listener?: ExportListener;
}

export function importRecordRoutes({ pg, clickhouse, listener }: ImportRecordRoutesDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/imports/:owner",
      action: "imports.read",
      operation: {
        id: "listImports",
        summary: "List imports, newest first",
        query: { ...PAGE_QUERY, ...FILTER_QUERY },
        answers: {
          200: pageAnswer({ name: "event_imports", record: EVENT_IMPORT, example: IMPORT_EXAMPLE }),
        },
        problems: PACKAGE_PROBLEMS,
      },
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
        requireOneArtifact(query);
        const { id: ownerId, name: owner } = await ownerFor(pg, account, param("owner"), action);
        const by = { accountId: account.id, owner, ownerId };
        const filter = await importFilterFor(pg, query, by);
        const rows = await listImports(pg, { ...by, page, filter });
        ctx.body = pageBody(ctx, { name: "event_imports", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "GET",
      path: "/v2/imports/:owner/:import",
      action: "imports.read",
      operation: {
        id: "getImport",
        summary: "Get an import with its progress and sample errors",
        path: { import: ID },
        answers: { 200: { description: "The import", schema: EVENT_IMPORT, example: IMPORT_EXAMPLE } },
      },
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
        operation: OPERATIONS[part],
        async handle({ ctx, account, action, param }) {
          const asked = { owner: param("owner"), id: param("import"), action, reachesLines: true };
          const ownerId = await importOwnerFor(pg, account, asked);
          const { id: importId } = await importOf(pg, { ownerId, id: asked.id });
          await answerRows(ctx, ({ signal }) => OPEN[part]({ pg, clickhouse }, { importId, signal }), {
            listener,
          });
        },
      }),
    ),
  ];
}

const OPERATIONS: Record<"log" | "rejected", Operation> = {
  log: {
    id: "readImportLog",
    summary: "Export the log of an import",
    path: { import: ID },
    answers: {
      200: {
        description:
          "One entry per line. Entries about the whole import come first, with line 0. A log of more than a " +
          "million entries ends with an `entries-not-kept` entry, which gives the number of omitted entries",
        schema: LOG_ENTRY,
        example: IMPORT_EXAMPLE.error_log_sample[0],
        types: ["application/x-ndjson"],
      },
    },
  },
  rejected: {
    id: "readRejectedLines",
    summary: "Download rejected lines",
    path: { import: ID },
    answers: {
      200: {
        description: "The rejected lines exactly as they were sent. They are not necessarily valid JSON",
        schema: { description: "A rejected line" },
        example: '{"$time": "yesterday"}',
        types: ["application/x-ndjson"],
      },
    },
  },
};

interface Asked {
  importId: string;
  signal: AbortSignal;
}

/** The answers are streams: the log of an import may be as long as the import. */
const OPEN = {
  /** Entries about the whole import come first, as line 0. */
  async log({ pg, clickhouse }: ImportRecordRoutesDeps, { importId, signal }: Asked) {
    const entries = await readImportEntries(pg, importId);
    const lines = await openImportLog(clickhouse, { importId, what: "import-log", signal });
    const rest = () => openImportLog(clickhouse, { importId, what: "import-log-rest", signal });
    return between(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), lines, rest);
  },
  rejected: ({ clickhouse }: ImportRecordRoutesDeps, { importId, signal }: Asked) =>
    openImportLog(clickhouse, { importId, what: "rejected-lines", signal }),
};

async function* between(start: string, lines: Rows, rest: () => Promise<Rows>): AsyncGenerator<Buffer> {
  if (start !== "") yield Buffer.from(start);
  yield* lines;
  yield* await rest();
}

interface ImportFaultRoutesDeps {
  pg: Pool;
  clickhouse: ClickHouse;
}

export function importFaultRoutes({ pg, clickhouse }: ImportFaultRoutesDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/imports/:owner/:import/faults",
      action: "imports.read",
      operation: {
        id: "readImportFaults",
        summary: "Summarize the log of an import by type",
        description:
          "Entries about the whole import come first, then errors, then warnings, most frequent type first. The " +
          "log contains all entries.",
        path: { import: ID },
        answers: {
          200: {
            description: "The types of log entries, each with its count and its first lines",
            schema: IMPORT_FAULTS,
            example: EXAMPLE,
          },
        },
      },
      async handle({ ctx, account, action, param }) {
        const asked = { owner: param("owner"), id: param("import"), action, reachesLines: true };
        const ownerId = await importOwnerFor(pg, account, asked);
        const { id } = await importOf(pg, { ownerId, id: asked.id });
        const [whole, ofLines] = await Promise.all([wholeFaults(pg, id), readImportFaults(clickhouse, id)]);
        ctx.body = { faults: [...whole, ...ofLines] };
      },
    }),
  ];
}

const EXAMPLE = {
  faults: [
    {
      class: "error",
      type: "failed-to-decode",
      count: 12,
      examples: [
        { line: 2, human_friendly_message: "Not a valid JSON object", text: '{"$time": "yesterday' },
      ],
    },
  ],
};

/** Such as `upload-interrupted`: there is at most one of each. */
async function wholeFaults(pg: Pool, importId: string): Promise<ImportFault[]> {
  const entries = await readImportEntries(pg, importId);
  return entries.map(({ class: faultClass, type, line, human_friendly_message }) => ({
    class: faultClass,
    type,
    count: 1,
    examples: [{ line, human_friendly_message }],
  }));
}
