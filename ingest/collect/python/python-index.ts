import { LRUCache } from "lru-cache";
import { limitPlaces } from "../../../schemas/limit-places.js";
import type { FetchIndex } from "./fetch-index.js";
import { limitBytes } from "./limit-bytes.js";
import { readUpstreamPage, type UpstreamPage } from "./read-upstream-page.js";
import type { ServedPage } from "./served-page.js";

/** Pages of the upstreams of Python packages, kept for a short while. */
export interface PythonIndex {
  /**
   * The page of a project, by its normalised name, or the root page where that is empty. One that was checked with the
   * upstream less than `ageMsMax` ago is answered from memory. While the upstream is away, the last copy is.
   * Never rejects.
   */
  read(place: IndexPlace, options?: { ageMsMax?: number }): Promise<ServedPage | "not-found" | "unavailable">;
}

export interface IndexPlace {
  /** Ends in `/`. */
  repositoryUrl: string;
  project: string;
  /** Whose page it is: owners share neither pages nor failures, so that none can spoil them for another. */
  ownerId: string;
}

export interface PythonIndexOptions {
  fetchIndex: FetchIndex;
  /** In milliseconds; only differences count. */
  now: () => number;
  /** Why a page could not be had or checked; a copy may have been served all the same. */
  onFailure?: (error: unknown, url: string) => void;
  limits?: Partial<typeof PYTHON_INDEX_LIMITS>;
}

export const PYTHON_INDEX_LIMITS = {
  /** For how long a page is served without asking the upstream whether it changed. */
  freshMs: 60_000,
  /** The same for "there is no such project": it may be published any moment. */
  absentMs: 10_000,
  /** After a failure the upstream is left alone for as long about that page. */
  holdOffMs: 5_000,
  /** For a page from beginning to end, with waiting for a place. */
  timeoutMs: 10_000,
  /** Of one page, decompressed. */
  pageBytesMax: 16 * 1024 * 1024,
  pagesMax: 10_000,
  /** Of all pages, as they take memory; the largest page has to fit. */
  cacheBytesMax: 136 * 1024 * 1024,
  /** At once, to one upstream, for one owner, and in all. */
  fetchesPerSide: 4,
  fetchesMax: 12,
  /** Of all pages that are being read: an upstream may be anybody's, and the memory is everybody's. */
  bytesUnderWayMax: 64 * 1024 * 1024,
  /** Of those, the most for one owner. */
  bytesUnderWayPerOwner: 24 * 1024 * 1024,
};

/** A parsed page with its two rendered forms takes about so many times the bytes that it came in. */
const MEMORY_PER_BYTE = 4;

interface Held {
  page: UpstreamPage;
  checkedAt: number;
}

/**
 * Keeps pages and asks the upstream again with `If-None-Match` and `If-Modified-Since`. However many ask for a page,
 * the upstream is asked once at a time.
 */
export function createPythonIndex({ fetchIndex, now, onFailure, limits }: PythonIndexOptions): PythonIndex {
  const bound = { ...PYTHON_INDEX_LIMITS, ...limits };
  const held = new LRUCache<string, Held>({
    max: bound.pagesMax,
    maxSize: bound.cacheBytesMax,
    sizeCalculation: ({ page }) => 1000 + page.bytes * MEMORY_PER_BYTE,
  });
  // When they were seen last. Apart, so that who asks for made-up names drives no page out.
  const absent = new LRUCache<string, number>({ max: bound.pagesMax });
  const failed = new LRUCache<string, number>({ max: bound.pagesMax });
  const underWay = new Map<string, Promise<ServedPage | "not-found" | undefined>>();
  const take = limitPlaces({ perSide: bound.fetchesPerSide, inAll: bound.fetchesMax });
  const bytesUnderWay = limitBytes({ perOwner: bound.bytesUnderWayPerOwner, inAll: bound.bytesUnderWayMax });

  const isWithin = (since: number | undefined, ms: number) => since !== undefined && now() - since < ms;

  /** Undefined where the upstream could not say. */
  async function check(place: IndexPlace, key: string): Promise<ServedPage | "not-found" | undefined> {
    const url = addressOf(place);
    const signal = AbortSignal.timeout(bound.timeoutMs);
    const limits = { bytesMax: bound.pageBytesMax, underWay: bytesUnderWay(place.ownerId) };
    const asked = { url, project: place.project, copy: held.get(key)?.page, ...limits };
    try {
      using _place = await take([new URL(url).origin, place.ownerId], signal);
      const page = await readUpstreamPage(asked, { fetchIndex, signal });
      failed.delete(key);
      return keep(page, key);
    } catch (error) {
      failed.set(key, now());
      onFailure?.(error, url);
      return undefined;
    }
  }

  function keep(page: UpstreamPage | "not-found", key: string): ServedPage | "not-found" {
    if (page === "not-found") {
      held.delete(key);
      absent.set(key, now());
      return page;
    }
    absent.delete(key);
    held.set(key, { page, checkedAt: now() });
    return page.served;
  }

  function checkOnce(place: IndexPlace, key: string): Promise<ServedPage | "not-found" | undefined> {
    const begun = underWay.get(key);
    if (begun !== undefined) return begun;
    const checking = check(place, key).finally(() => underWay.delete(key));
    underWay.set(key, checking);
    return checking;
  }

  return {
    async read(place, { ageMsMax = bound.freshMs } = {}) {
      const key = `${place.ownerId}\n${place.repositoryUrl}\n${place.project}`;
      const kept = held.get(key);
      if (kept !== undefined && isWithin(kept.checkedAt, ageMsMax)) return kept.page.served;
      if (isWithin(absent.get(key), Math.min(ageMsMax, bound.absentMs))) return "not-found";
      const checked = isWithin(failed.get(key), bound.holdOffMs) ? undefined : await checkOnce(place, key);
      // That a project was absent before the upstream went away says nothing about now.
      return checked ?? kept?.page.served ?? "unavailable";
    },
  };
}

function addressOf({ repositoryUrl, project }: IndexPlace): string {
  return project === "" ? repositoryUrl : `${repositoryUrl}${project}/`;
}
