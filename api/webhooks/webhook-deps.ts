import type { Pool } from "pg";
import type { Sealer } from "../identity/tokens.js";
import type { AddressGuard } from "../outbound/guarded-lookup.js";

/** What the operations on webhooks need. */
export interface WebhookDeps {
  pg: Pool;
  guard: AddressGuard;
  /** Of the kind "webhook-secret". */
  sealer: Sealer;
}
