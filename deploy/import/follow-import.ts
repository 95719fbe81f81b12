import { pause } from "../../schemas/async/pause.js";
import { retry } from "../../schemas/async/retry.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { NoConnection, readJson, Refusal, type Service } from "./call-api.js";
import type { ProgressBar } from "./progress-bar.js";

const POLL_MS = { first: 100, max: 2_000 };

/** A restart of the service takes less. */
const UNREACHABLE_SECONDS_MAX = 300;
const RECONNECT_MS = 2_000;

export interface Following {
  /** The name of the file, as the bar shows it. */
  name: string;
  bar: ProgressBar;
  signal: AbortSignal;
}

/** Waits until an import has ended, and answers its record. Throws as `callApi`, and when the signal ends it. */
export async function followImport(
  service: Service,
  { owner, id }: Pick<EventImport, "owner" | "id">,
  { name, bar, signal }: Following,
): Promise<EventImport> {
  const path = `/v2/imports/${encodeURIComponent(owner)}/${id}`;
  for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 1.5, POLL_MS.max)) {
    const record = await retry(() => readJson<EventImport>(service, path, { signal }), {
      attempts: (UNREACHABLE_SECONDS_MAX * 1000) / RECONNECT_MS,
      backoff: { firstMs: RECONNECT_MS },
      signal,
      isTransient: (error) =>
        error instanceof NoConnection || (error instanceof Refusal && error.status >= 500),
      onFailure: () => bar.show(name, { detail: "the service does not answer; waiting for it" }),
    });
    if (record.status !== "importing") return record;
    const { events_total: done, lines_received: lines } = record;
    const share = lines === 0 ? undefined : done / lines;
    bar.show(`importing ${name}`, { share, detail: `${count(done)} of ${count(lines)} lines` });
    await pause(pollMs, { signal });
    signal.throwIfAborted();
  }
}

/** `1,234,567`. */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}
