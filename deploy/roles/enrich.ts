import { loadLookupData, type LookupData } from "../../enrich/lookups/load-lookup-data.js";
import { originKey } from "../config/secret-key.js";
import { onReloadSignal } from "../process/lifecycle.js";
import { readEventRetention } from "../stores/read-event-retention.js";
import type { RoleParts } from "./role-parts.js";
import { startEnrichment, type Enrichment } from "./start-enrichment.js";

/** Opens the role `enrich`, in this order: the worker threads, the reload of their lookup tables on SIGHUP. */
export async function startEnrich(parts: RoleParts, lookupData: LookupData): Promise<Enrichment> {
  const { config, log, open, stores, secretKey, chunksWritten, arriving } = parts;
  const metrics = parts.metrics.enrichment;
  const enrichment = open.use(
    await startEnrichment({
      workers: config.enrich.workers,
      log,
      logLevel: config.logLevel,
      logSource: stores.logSource,
      postgresUrl: stores.postgresUrl,
      clickhouseSource: stores.clickhouseSource,
      eventRetention: await readEventRetention(stores.pg, config.retention.eventsDays),
      originKey: originKey(secretKey),
      lookupData,
      arrivingMemory: arriving.memory,
      metrics: {
        ...metrics,
        onOutcomes(outcomes) {
          metrics.onOutcomes(outcomes);
          chunksWritten.ring();
        },
      },
    }),
  );
  const reload = onReloadSignal(
    async () => enrichment.reload(await loadLookupData(config.lookups)),
    (error) => log.error({ err: error }, "the lookup tables could not be reloaded; the old ones stay in use"),
  );
  open.defer(async () => reload[Symbol.dispose]());
  return enrichment;
}
