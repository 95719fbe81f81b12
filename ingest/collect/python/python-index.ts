import { LRUCache } from "lru-cache";
import { limitConcurrency, Shares } from "../../../schemas/async/limit-concurrency.js";
import { untilAborted } from "../../../schemas/async/pause.js";
import type { FetchIndex } from "./fetch-index.js";
import { UnreadableIndex } from "./index-page.js";
import { openPageCache } from "./page-cache.js";
import { createPartReader, type ReadPart } from "./read-part.js";
import {
  type IndexRefusal,
  isRefusal,
  isTemporary,
  readUpstreamPage,
  type UpstreamPage,
} from "./read-upstream-page.js";
import type { ServedPage } from "./render-index-page.js";

export interface PythonIndex {
  /**
   * The page of a project by its normalised name, or the root page when that is empty, checked with the
   * upstream less than `ageMsMax` ago, or its refusal; the last copy while the upstream is unavailable. Never rejects.
   */
  read(
    source: PageSource,
    options?: { ageMsMax?: number },
  ): Promise<ServedPage | IndexRefusal | "unavailable">;
  /** Reads a part of a file. Never rejects. */
  readPart: ReadPart;
}

export interface PageSource {
  /** Ends in `/`. */
  repositoryUrl: string;
  project: string;
  /** Owners share neither pages nor failures, so that none can affect another. */
  ownerId: string;
}

export interface PythonIndexOptions {
  fetchIndex: FetchIndex;
  /** In milliseconds; only differences count. */
  now: () => number;
  /** Whom an address is of, for what one client gets at once. */
  clientOf?: (address: string) => string;
  /** Called when a page or a part of a file could not be fetched; a copy may have been served. */
  onFailure?: (error: unknown, url: string) => void;
  limits?: Partial<typeof PYTHON_INDEX_LIMITS>;
}

export const PYTHON_INDEX_LIMITS = {
  /** How long a page is served without checking the upstream. */
  freshMs: 60_000,
  /** The same for a refusal: a project that was not found may be published at any moment. */
  refusedMs: 10_000,
  refusedBytesMax: 8 * 1024 * 1024,
  /** How long a page is not requested again after a failure. */
  holdOffMs: 5_000,
  /** For a page from first to last byte, with the wait for a permit. */
  timeoutMs: 10_000,
  /** The size of one page, decompressed. */
  pageBytesMax: 16 * 1024 * 1024,
  pagesMax: 10_000,
  /** The memory of all pages; the largest page must fit. */
  cacheBytesMax: 136 * 1024 * 1024,
  /** The share of one owner, an eighth. In a full cache, pages of owners above it are forgotten first. */
  pagesPerOwner: 1_250,
  cacheBytesPerOwner: 17 * 1024 * 1024,
  /** At once, for one owner, to one upstream, and in all. */
  fetchesPerKey: 4,
  fetchesMax: 12,
  /** The bytes of all pages that are being read. Any account can name an upstream, and all share this memory. */
  readingBytesMax: 64 * 1024 * 1024,
  readingBytesPerOwner: 24 * 1024 * 1024,
};

/**
 * Revalidates pages with `If-None-Match` and `If-Modified-Since`. Concurrent requests for a page share one.
 */
export function createPythonIndex(options: PythonIndexOptions): PythonIndex {
  const { fetchIndex, now, clientOf = (address) => address, onFailure, limits } = options;
  const bound = { ...PYTHON_INDEX_LIMITS, ...limits };
  const pages = openPageCache(bound);
  // Of the last answer. Separate caches, so that requests for invented names evict no page.
  const refused = new LRUCache<string, { refusal: IndexRefusal; at: number }>({
    maxSize: bound.refusedBytesMax,
    sizeCalculation: ({ refusal: { headers, body } }) => 500 + JSON.stringify(headers).length + body.length,
  });
  const failed = new LRUCache<string, number>({ max: bound.pagesMax });
  const checks = new Map<string, Promise<Checked>>();
  const takePermits = limitConcurrency({ perKey: bound.fetchesPerKey, inAll: bound.fetchesMax });
  // No owner uses up the memory of all.
  const reading = new Shares({ perKey: bound.readingBytesPerOwner, inAll: bound.readingBytesMax });
  const fetchPart = createPartReader(fetchIndex);

  const isWithin = (since: number | undefined, ms: number) => since !== undefined && now() - since < ms;

  async function check(source: PageSource, key: string): Promise<Checked> {
    const url = urlOf(source);
    const signal = AbortSignal.timeout(bound.timeoutMs);
    const countBytes = (bytes: number) => reading.add(bytes, [source.ownerId]);
    const limits = { bytesMax: bound.pageBytesMax, countBytes };
    const wanted = { url, project: source.project, copy: pages.get(key)?.page, ...limits };
    try {
      using _permits = await takePermits([source.ownerId, new URL(url).origin], signal);
      // The permits are given back in time, whatever the upstream answers or does not.
      const page = await untilAborted(readUpstreamPage(wanted, { fetchIndex, signal }), signal);
      if (isRefusal(page) && isTemporary(page) && wanted.copy !== undefined)
        throw new UnreadableIndex(`the upstream returned ${page.status}`);
      failed.delete(key);
      return cache(page, { key, ownerId: source.ownerId });
    } catch (error) {
      failed.set(key, now());
      onFailure?.(error, url);
      return undefined;
    }
  }

  function cache(
    page: UpstreamPage | IndexRefusal,
    { key, ownerId }: { key: string; ownerId: string },
  ): ServedPage | IndexRefusal {
    if (isRefusal(page)) {
      pages.delete(key);
      refused.set(key, { refusal: page, at: now() });
      return page;
    }
    refused.delete(key);
    pages.set(key, { page, ownerId, checkedAt: now() });
    return page.served;
  }

  function checkOnce(source: PageSource, key: string): Promise<Checked> {
    const running = checks.get(key);
    if (running !== undefined) return running;
    const checking = check(source, key).finally(() => checks.delete(key));
    checks.set(key, checking);
    return checking;
  }

  return {
    async read(source, { ageMsMax = bound.freshMs } = {}) {
      const key = `${source.ownerId}\n${source.repositoryUrl}\n${source.project}`;
      const cached = pages.get(key);
      if (cached !== undefined && isWithin(cached.checkedAt, ageMsMax)) return cached.page.served;
      const known = refused.get(key);
      if (isWithin(known?.at, Math.min(ageMsMax, bound.refusedMs)) && known) return known.refusal;
      const checked = isWithin(failed.get(key), bound.holdOffMs) ? undefined : await checkOnce(source, key);
      // An older refusal is not used here, because the project may have been published since.
      return checked ?? cached?.page.served ?? "unavailable";
    },
    readPart: (part) =>
      fetchPart({ ...part, client: clientOf(part.client) }).catch((error: unknown) => {
        if (!part.gone.aborted) onFailure?.(error, part.url);
        return undefined;
      }),
  };
}

/** Undefined when the upstream does not answer. */
type Checked = ServedPage | IndexRefusal | undefined;

function urlOf({ repositoryUrl, project }: PageSource): string {
  return project === "" ? repositoryUrl : `${repositoryUrl}${project}/`;
}
