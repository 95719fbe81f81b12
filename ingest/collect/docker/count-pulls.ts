import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isTag } from "./image-path.js";
import { PullingClient, type Pull } from "./pulling-client.js";

export interface PullCounter {
  /** The pull that a request makes, or undefined when it makes none or belongs to one that was counted. */
  pullOf(request: ManifestRequest): Pull | undefined;
}

export interface ManifestRequest {
  /** Address, user agent and image; requests of other clients do not matter. */
  client: readonly string[];
  /** Whether the client may send requests twice, because it is told to log in where this host does not see it. */
  mayRepeat: boolean;
  method: "GET" | "HEAD";
  /** A tag or a digest. */
  reference: string;
}

/** Tags and digests of all clients: about 20 MB. The client that was seen last longest ago is forgotten first. */
const REFERENCES_MAX = 100_000;

/** `now` is in milliseconds; only differences count. */
export function createPullCounter({ now }: { now: () => number }): PullCounter {
  const clients = new LRUCache<string, PullingClient>({
    maxSize: REFERENCES_MAX,
    sizeCalculation: ({ size }) => 1 + size,
  });
  return {
    pullOf({ client: parts, mayRepeat, method, reference }) {
      const key = shortened(parts.join("\n"));
      const client = clients.peek(key) ?? new PullingClient(mayRepeat);
      const pull = isTag(reference)
        ? client.takeTag(method, reference, now())
        : client.takeDigest(method, shortened(reference), now());
      // Deleted first, because the size of a value that is only set again is not calculated.
      clients.delete(key);
      clients.set(key, client);
      return pull;
    },
  };
}

/** 44 characters for a text of any length, which is not kept in memory. */
function shortened(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
