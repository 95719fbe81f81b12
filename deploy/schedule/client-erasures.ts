import type { Logger } from "pino";
import { startClientEraser } from "../../aggregate/erasures/start-client-eraser.js";
import { type Sealer, createSealer } from "../../api/base/identity/tokens.js";
import * as erasures from "../../api/features/erasures/client-erasures.js";
import { asOnlySettlement } from "../../api/features/imports/settlements.js";
import { readRemovedBefore } from "../../api/base/postgres/removed-events.js";
import { withPg } from "../../api/base/postgres/with-pg.js";
import { isOfClient } from "../../enrich/lines/is-of-client.js";
import { openIds } from "../../enrich/lookups/open-ids.js";
import { ENRICH_GROUP } from "../../schemas/records/event-log.js";
import { originKey } from "../process/secret-key.js";
import type { Stores } from "../stores/open-stores.js";

interface ErasureParts {
  log: Logger;
  stores: Stores;
  secretKey: Buffer;
}

export function startClientErasures({ log, stores, secretKey }: ErasureParts): AsyncDisposable {
  const { pg } = stores;
  const ids = openIds(originKey(secretKey));
  return startClientEraser({
    shards: stores.shards,
    store: {
      ...withPg(pg, { ...erasures, asOnlySettlement, removedBefore: readRemovedBefore }),
      dueErasures: (ownerId) => erasures.dueErasures(pg, ownerId, erasureSealer(secretKey)),
    },
    isOfClient: (line, client) => isOfClient(line, client, ids),
    log: {
      ends: async () => (await stores.eventLog()).ends(),
      isEnriched: async (below) => (await (await stores.eventLog()).lag(ENRICH_GROUP, { below })) === 0,
    },
    onWaiting: (erasure, waitingFor) =>
      log.info({ erasure, waitingFor }, "the erasure of a client is waiting"),
    onErased: (erasure) => log.info({ erasure }, "erased the events of a client"),
    onFailure: (error) => log.warn({ err: error }, "erasing the events of a client failed; retrying"),
  });
}

export function erasureSealer(secretKey: Buffer): Sealer {
  return createSealer(secretKey, "client erasure");
}
