import { settlesWithin } from "../../../schemas/async/settles-within.js";

/** Longer than a broker that is there takes; the requests of one that is away are tried for half a minute. */
const PATIENCE_MS = 3_000;

interface Client {
  disconnect(): Promise<void>;
}

/**
 * Says goodbye to the brokers, for 3 s at the most, and never throws: only for clients that have nothing under way.
 * What a broker does not hear of it finds out by the session that ends.
 */
export async function disconnect(client: Client): Promise<void> {
  await settlesWithin(
    client.disconnect().catch(() => undefined),
    PATIENCE_MS,
  );
}
