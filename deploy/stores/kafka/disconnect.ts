import { settlesWithin } from "../../../schemas/async/pause.js";

/** Longer than an available broker takes. Requests to an unavailable one are retried for half a minute. */
const PATIENCE_MS = 3_000;

interface Client {
  disconnect(): Promise<void>;
}

/**
 * Disconnects from the brokers, for 3 s at the most, and never throws: only for clients that have nothing under way. A
 * broker that misses it ends the session after its timeout.
 */
export async function disconnect(client: Client): Promise<void> {
  await settlesWithin(
    client.disconnect().catch(() => undefined),
    PATIENCE_MS,
  );
}
