import type { Pool } from "pg";
import { pause } from "../../schemas/async/pause.js";
import { putLocation } from "../http/answers/put-location.js";
import type { ApiContext } from "../http/route.js";
import { isRetracting, type OwnedImport } from "./import-endings.js";
import { importOf } from "./import-of.js";

/** A hundred thousand events take a few seconds. Clients wait half a minute and longer. */
export const RETRACTION_MS_MAX = 15_000;
const POLL_MS = 50;

export interface RetractionWait {
  pg: Pool;
  /** How long the request waits for settlement. */
  msMax: number;
}

/**
 * Answers 204 once settlement has removed the events of a retracted import from every breakdown. Answers 202 with the
 * record, whose status is `retracting`, when that takes longer.
 */
export async function answerRetraction(
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
