import type { Pool } from "pg";
import type { Sealer } from "../identity/tokens.js";
import type { AddressGuard } from "../outbound/guarded-lookup.js";

export interface WebhookDeps {
  pg: Pool;
  guard: AddressGuard;
  /** Its kind is "webhook-secret". */
  sealer: Sealer;
}
