import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import {
  COLLECT_CHANGES,
  readCollectedPackages,
  readCollectedPixels,
} from "../../api/stores/packages/collect-sites.js";
import { SiteDirectory } from "../../ingest/collect/site-directory.js";
import type { Sites } from "../../ingest/collect/sites.js";
import { followChanges } from "./follow-changes.js";

export interface KeptSites extends AsyncDisposable {
  /** As of now; another directory after a reload. */
  readonly sites: Sites;
  /** Whether every change that was made is in it, or will be in a moment. */
  readonly isFresh: boolean;
}

export interface KeepSitesOptions {
  pg: Pool;
  url: string;
  log: Logger;
}

/** Changes that come together are read together. */
const GATHER_MS = 20;
const RETRY_MS = 500;
/** More than that are read faster with all others. */
const TOUCHED_MAX = 5_000;
/** Put in one go; then requests have their turn. */
const PUTS_IN_A_ROW = 500;

/**
 * Keeps what live collection serves in memory as it is in PostgreSQL: all of it when a connection listens anew, one
 * package or pixel when it is told to have changed. While PostgreSQL is away it stays as it was. Resolves when
 * everything is read for the first time; throws when it cannot be.
 */
export async function keepSites({ pg, url, log }: KeepSitesOptions): Promise<KeptSites> {
  const touched = { packages: new Set<string>(), pixels: new Set<string>() };
  let directory = await readAll(pg);
  let wantsAll = false;
  let readsAll = false;
  let listening = false;
  let stopped = false;
  let reading: Promise<void> | undefined;

  function wake(): void {
    reading ??= readChanges().finally(() => {
      reading = undefined;
      if (hasWork() && !stopped) wake();
    });
  }

  function hasWork(): boolean {
    return wantsAll || touched.packages.size + touched.pixels.size > 0;
  }

  async function readChanges(): Promise<void> {
    await sleep(GATHER_MS);
    const taken = { packages: [...touched.packages], pixels: [...touched.pixels] };
    const all = wantsAll || taken.packages.length + taken.pixels.length > TOUCHED_MAX;
    touched.packages.clear();
    touched.pixels.clear();
    readsAll = all;
    wantsAll = false;
    try {
      if (all) directory = await readAll(pg);
      else await readTouched(pg, directory, taken);
    } catch (error) {
      // Which ones it were does not matter any more.
      wantsAll = true;
      log.warn(
        { err: error },
        "changes of routes, domains or pixels cannot be read now; they are read again",
      );
      if (!stopped) await sleep(RETRY_MS);
    } finally {
      readsAll = false;
    }
  }

  const changes = followChanges({
    url,
    channel: COLLECT_CHANGES,
    log,
    onListening() {
      listening = true;
      wantsAll = true;
      wake();
    },
    onChange(payload) {
      const [kind, id = ""] = payload.split(" ");
      if (kind === "package") touched.packages.add(id);
      else if (kind === "pixel") touched.pixels.add(id);
      else wantsAll = true;
      wake();
    },
    onDeaf: () => (listening = false),
  });
  return {
    get sites() {
      return directory;
    },
    get isFresh() {
      return listening && !wantsAll && !readsAll;
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      await changes[Symbol.asyncDispose]();
      await reading;
    },
  };
}

async function readAll(pg: Pool): Promise<SiteDirectory> {
  const directory = new SiteDirectory();
  const packages = await readCollectedPackages(pg);
  await inTurns(packages, (made) => directory.putPackage(made));
  const pixels = await readCollectedPixels(pg);
  await inTurns(pixels, (pixel) => directory.putPixel(pixel));
  return directory;
}

async function readTouched(
  pg: Pool,
  directory: SiteDirectory,
  { packages, pixels }: { packages: readonly string[]; pixels: readonly string[] },
): Promise<void> {
  if (packages.length > 0) {
    const found = await readCollectedPackages(pg, packages);
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of packages) if (!foundIds.has(id)) directory.removePackage(id);
    // A package that lost a domain comes before the one that got it; whoever has it at the end keeps it.
    await inTurns(found, (made) => directory.putPackage(made));
  }
  if (pixels.length > 0) {
    const found = await readCollectedPixels(pg, pixels);
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of pixels) if (!foundIds.has(id)) directory.removePixel(id);
    await inTurns(found, (pixel) => directory.putPixel(pixel));
  }
}

async function inTurns<Item>(items: readonly Item[], put: (item: Item) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % PUTS_IN_A_ROW === 0) await turn();
    put(item);
  }
}
