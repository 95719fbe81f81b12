import type { Pool } from "pg";
import type { Sealer } from "../tokens.js";
import type { AddressGuard } from "./guarded-lookup.js";

/** What the operations on webhooks need. */
export interface WebhookDeps {
  pg: Pool;
  guard: AddressGuard;
  /** Of the kind "webhook-secret". */
  sealer: Sealer;
}
