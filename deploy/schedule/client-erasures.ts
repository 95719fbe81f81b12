import type { Logger } from "pino";
import { startClientEraser } from "../../aggregate/erasures/start-client-eraser.js";
import { type Sealer, createSealer } from "../../api/identity/tokens.js";
import * as erasures from "../../api/erasures/client-erasures.js";
import { asOnlySettlement } from "../../api/imports/settlements.js";
import { withPg } from "../../api/postgres/with-pg.js";
import { isOfClient } from "../../enrich/lines/is-of-client.js";
import { openAddressCache } from "../../enrich/lookups/address-cache.js";
import { openIds } from "../../enrich/lookups/open-ids.js";
import { ENRICH_GROUP } from "../../schemas/records/event-log.js";
import { originKey } from "../config/secret-key.js";
import type { Stores } from "../stores/open-stores.js";

interface ErasureParts {
  log: Logger;
  stores: Stores;
  secretKey: Buffer;
}

/** Each refused line is looked at once. */
const CACHE_BYTES_MAX = 1024 * 1024;

export function startClientErasures({ log, stores, secretKey }: ErasureParts): AsyncDisposable {
  const { pg } = stores;
  const ids = openIds(originKey(secretKey), openAddressCache({ cacheBytesMax: CACHE_BYTES_MAX }));
  return startClientEraser({
    shards: stores.shards,
    store: {
      ...withPg(pg, { ...erasures, asOnlySettlement }),
      dueErasures: (ownerId) => erasures.dueErasures(pg, ownerId, erasureSealer(secretKey)),
    },
    isOfClient: (line, client) => isOfClient(line, client, ids),
    isEnriched: (before) => isEnriched(stores, before),
    onErased: (erasure) => log.info({ erasure }, "the events of a client are erased"),
    onFailure: (error) => log.warn({ err: error }, "erasing the events of a client failed and is retried"),
  });
}

export function erasureSealer(secretKey: Buffer): Sealer {
  return createSealer(secretKey, "client erasure");
}

/** Collectors hold live events in memory for moments. */
const COLLECTED_AFTER_MS = 5_000;
/** The log may never be seen empty. Nothing waits in it for so long unless enrichment stands still. */
const ENRICHED_AFTER_MS = 3_600_000;

async function isEnriched({ eventLog }: Pick<Stores, "eventLog">, before: number): Promise<boolean> {
  const age = Date.now() - before;
  if (age >= ENRICHED_AFTER_MS) return true;
  return age >= COLLECTED_AFTER_MS && (await (await eventLog()).lag(ENRICH_GROUP)) === 0;
}
