import type { Pool } from "pg";
import { isUuid } from "../schemas/formats.js";
import type { EventImport } from "../schemas/import-store.js";
import { Problem } from "../schemas/problem.js";
import { readImport } from "./stores/imports.js";

/** @throws Problem not-found where the owner has no such import */
export async function importOf(
  pg: Pool,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<EventImport> {
  const record = isUuid(id) ? await readImport(pg, { ownerId, id }) : undefined;
  if (record === undefined) throw noImport(id);
  return record;
}

export function noImport(id: string): Problem {
  return new Problem("not-found", `There is no import ${id} here.`);
}
