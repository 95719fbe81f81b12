import type { ClickHouse } from "../../schemas/shards.js";
import type { Pool } from "pg";
import { readImportFaults } from "../../aggregate/queries/read-import-faults.js";
import { IMPORT_FAULTS, type ImportFault } from "../../schemas/records/import-log.js";
import { ID } from "./import-operations.js";
import { importOf, importOwnerFor } from "./import-of.js";
import { route, type Route } from "../http/route.js";
import { readImportEntries } from "./import-entries.js";

export interface ImportFaultRoutesDeps {
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
        summary: "Read what an import's log says, by type, with the first lines of each",
        description:
          "Entries about the whole import come first, then errors, then warnings; the most frequent type first. The " +
          "log has every entry.",
        path: { import: ID },
        answers: {
          200: { description: "The types and their counts", schema: IMPORT_FAULTS, example: EXAMPLE },
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
