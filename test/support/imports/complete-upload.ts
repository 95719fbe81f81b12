import type { Pool } from "pg";
import { uploadStore } from "../../../api/imports/uploads.js";

/** The upload of a started import is complete: a line in a chunk, with this receipt stamp. */
export async function completeUpload(
  pg: Pool,
  { importId, ownerId, stamp = 1 }: { importId: string; ownerId: string; stamp?: number },
): Promise<void> {
  await uploadStore(pg).completeUpload({ importId, ownerId, chunksTotal: 1, bytes: 1, lines: 1, stamp });
}
