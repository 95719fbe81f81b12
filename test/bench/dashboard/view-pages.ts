import { raisePriority } from "../common/raise-priority.js";
import { type Rate, type SentAtRate, sendAtRate } from "../common/send-at-rate.js";
import type { PageClient } from "./page-client.js";

/** Views these pages in turn. Each answer is its status. */
export async function viewPages(
  client: PageClient,
  paths: readonly string[],
  rate: Rate,
): Promise<SentAtRate> {
  using _ = raisePriority();
  return sendAtRate(rate, async (index) =>
    String((await client.get(paths[index % paths.length] ?? "")).status),
  );
}
