import { LRUCache } from "lru-cache";
import type { UpstreamPage } from "./read-upstream-page.js";

export interface CachedPage {
  page: UpstreamPage;
  ownerId: string;
  checkedAt: number;
}

export interface PageCacheLimits {
  pagesMax: number;
  cacheBytesMax: number;
  pagesPerOwner: number;
  cacheBytesPerOwner: number;
}

export type PageCache = Pick<LRUCache<string, CachedPage>, "get" | "delete"> & {
  set: (key: string, cached: CachedPage) => void;
};

/** A parsed page with its two rendered forms takes about this many times its size on the wire. */
const MEMORY_PER_BYTE = 4;

/**
 * One owner may fill the cache. Once it is full, pages of owners above their share go first, and a page that
 * brings its owner above it is not kept at the cost of others.
 */
export function openPageCache(limits: PageCacheLimits): PageCache {
  const { pagesMax, cacheBytesMax, pagesPerOwner, cacheBytesPerOwner } = limits;
  const pages = new LRUCache<string, CachedPage>({
    max: pagesMax,
    maxSize: cacheBytesMax,
    sizeCalculation: sizeOf,
  });

  const hasRoomFor = (bytes: number) =>
    pages.size < pagesMax && pages.calculatedSize + bytes <= cacheBytesMax;

  /** Whether the page may be kept. Forgets others for it. */
  function makeRoom(cached: CachedPage): boolean {
    const size = sizeOf(cached);
    if (hasRoomFor(size)) return true;
    const used = usedByOwner([...pages.values(), cached]);
    const isAboveShare = (ownerId: string) => {
      const of = used.get(ownerId);
      return of !== undefined && (of.pages > pagesPerOwner || of.bytes > cacheBytesPerOwner);
    };
    for (const key of [...pages.rkeys()]) {
      const each = pages.peek(key);
      const of = each && used.get(each.ownerId);
      if (each === undefined || of === undefined || !isAboveShare(each.ownerId)) continue;
      pages.delete(key);
      of.pages--;
      of.bytes -= sizeOf(each);
      if (hasRoomFor(size)) return true;
    }
    return !isAboveShare(cached.ownerId);
  }

  return {
    get: (key) => pages.get(key),
    delete: (key) => pages.delete(key),
    set(key, cached) {
      pages.delete(key);
      if (makeRoom(cached)) pages.set(key, cached);
    },
  };
}

function usedByOwner(cached: readonly CachedPage[]): Map<string, { pages: number; bytes: number }> {
  const used = new Map<string, { pages: number; bytes: number }>();
  for (const each of cached) {
    const { pages, bytes } = used.get(each.ownerId) ?? { pages: 0, bytes: 0 };
    used.set(each.ownerId, { pages: pages + 1, bytes: bytes + sizeOf(each) });
  }
  return used;
}

function sizeOf({ page }: CachedPage): number {
  return 1000 + page.bytes * MEMORY_PER_BYTE;
}
