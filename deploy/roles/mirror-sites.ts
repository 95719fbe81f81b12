import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { pause, settlesWithin } from "../../schemas/async/pause.js";
import {
  COLLECT_CHANGES,
  notifyOfPackage,
  readCollectedPackages,
  readCollectedPixels,
} from "../../api/features/packages/collect-sites.js";
import { SiteDirectory } from "../../ingest/collect/site-directory.js";
import type { Sites } from "../../ingest/collect/sites.js";
import { listenForChanges } from "../stores/connect-postgres.js";

export interface MirroredSites extends AsyncDisposable {
  /** The current directory. A full reload replaces it. */
  readonly sites: Sites;
  /** Whether changes are being received and a full reload is not pending. */
  readonly isFresh: boolean;
  /** Resolves once every change that was committed before is served, or after `CAUGHT_UP_MS_MAX`. */
  caughtUp(): Promise<void>;
}

export interface MirrorSitesOptions {
  pg: Pool;
  url: string;
  log: Logger;
  verifiedHostsOnly?: boolean | undefined;
}

/** Changes that arrive within this time are read with one query. */
const GATHER_MS = 5;
const RETRY_MS = 500;
const CAUGHT_UP_MS_MAX = 500;
/** Above this number, reading everything is faster than reading the changed ones. */
const CHANGED_MAX = 5_000;
/** Directory updates between two turns of the event loop. */
const PUTS_IN_A_ROW = 500;

/**
 * Reads everything when a connection starts to listen, one package or pixel when a notification names it.
 * Without PostgreSQL the last state is served. Resolves after the first full read; throws when that fails.
 */
export async function mirrorSites({
  pg,
  url,
  log,
  verifiedHostsOnly,
}: MirrorSitesOptions): Promise<MirroredSites> {
  const changed = { packages: new Set<string>(), pixels: new Set<string>() };
  const readPackages = (ids?: readonly string[]) => readCollectedPackages(pg, { ids, verifiedHostsOnly });
  const source: Source = { pg, readPackages };
  let directory = await readAll(source);
  let needsReload = false;
  let isReloading = false;
  let isListening = false;
  const stop = new AbortController();
  /** By the id of a package that does not exist: its notification comes after those of all earlier changes. */
  const waiting = new Map<string, () => void>();
  let reading: Promise<void> | undefined;

  function wake(): void {
    reading ??= readChanges().finally(() => {
      reading = undefined;
      if (hasWork() && !stop.signal.aborted) wake();
    });
  }

  function hasWork(): boolean {
    return needsReload || changed.packages.size + changed.pixels.size > 0;
  }

  async function readChanges(): Promise<void> {
    await pause(GATHER_MS);
    const ids = { packages: [...changed.packages], pixels: [...changed.pixels] };
    isReloading = needsReload || ids.packages.length + ids.pixels.length > CHANGED_MAX;
    changed.packages.clear();
    changed.pixels.clear();
    needsReload = false;
    try {
      if (isReloading) directory = await readAll(source);
      else await readChanged(source, directory, ids);
      for (const id of ids.packages) waiting.get(id)?.();
    } catch (error) {
      // The ids are lost, so everything is read again.
      needsReload = true;
      log.warn({ err: error }, "reading changes to routes, domains or pixels failed; retrying");
      await pause(RETRY_MS, stop);
    } finally {
      isReloading = false;
    }
  }

  const changes = listenForChanges({
    url,
    channel: COLLECT_CHANGES,
    log,
    onListening() {
      isListening = true;
      needsReload = true;
      wake();
    },
    onChange(payload) {
      const [kind, id = ""] = payload.split(" ");
      if (kind === "package") changed.packages.add(id);
      else if (kind === "pixel") changed.pixels.add(id);
      else needsReload = true;
      wake();
    },
    onDisconnected: () => (isListening = false),
  });
  return {
    get sites() {
      return directory;
    },
    get isFresh() {
      return isListening && !needsReload && !isReloading;
    },
    async caughtUp() {
      if (!isListening) return;
      const id = randomUUID();
      const served = new Promise<void>((resolve) => waiting.set(id, resolve));
      try {
        await notifyOfPackage(pg, id);
        await settlesWithin(served, CAUGHT_UP_MS_MAX);
      } finally {
        waiting.delete(id);
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await changes[Symbol.asyncDispose]();
      await reading;
    },
  };
}

interface Source {
  pg: Pool;
  readPackages: (ids?: readonly string[]) => ReturnType<typeof readCollectedPackages>;
}

async function readAll({ pg, readPackages }: Source): Promise<SiteDirectory> {
  const directory = new SiteDirectory();
  const packages = await readPackages();
  await putInTurns(packages, (one) => directory.putPackage(one));
  const pixels = await readCollectedPixels(pg);
  await putInTurns(pixels, (pixel) => directory.putPixel(pixel));
  return directory;
}

async function readChanged(
  { pg, readPackages }: Source,
  directory: SiteDirectory,
  { packages, pixels }: { packages: readonly string[]; pixels: readonly string[] },
): Promise<void> {
  if (packages.length > 0) {
    const found = await readPackages(packages);
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of packages) if (!foundIds.has(id)) directory.removePackage(id);
    // A domain may have moved between two of these packages. Their order does not matter: only the new one lists it.
    await putInTurns(found, (one) => directory.putPackage(one));
  }
  if (pixels.length > 0) {
    const found = await readCollectedPixels(pg, pixels);
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of pixels) if (!foundIds.has(id)) directory.removePixel(id);
    await putInTurns(found, (pixel) => directory.putPixel(pixel));
  }
}

async function putInTurns<Item>(items: readonly Item[], put: (item: Item) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % PUTS_IN_A_ROW === 0) await nextTurn();
    put(item);
  }
}
