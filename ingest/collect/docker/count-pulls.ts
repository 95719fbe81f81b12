import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isSignatureTag, subjectOfTag } from "../../../schemas/routing/sidecar-files.js";
import { isTag, type ImagePath } from "./image-path.js";
import { PullingClient, type Pull } from "./pulling-client.js";

export interface PullCounter {
  /** The pull that a request makes, or undefined when it makes none or belongs to one that was counted. */
  pullOf(request: ImageRequest): Pull | undefined;
}

export interface ImageRequest {
  /** Address, user agent and image; requests of other clients do not matter. */
  client: readonly string[];
  /** Whether the client may send requests twice, because it is told to log in where this host does not see it. */
  mayRepeat: boolean;
  method: "GET" | "HEAD";
  /** Manifests are asked for by a tag or a digest, referrers by the digest of a manifest. */
  wanted: Pick<ImagePath, "kind" | "reference">;
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
    pullOf({ client: parts, mayRepeat, method, wanted: { kind, reference } }) {
      const subject = kind === "referrers" ? reference : subjectOfTag(reference);
      if (subject === undefined && (kind !== "manifests" || isSignatureTag(reference))) return undefined;
      const key = shortened(parts.join("\n"));
      const client = clients.peek(key) ?? new PullingClient(mayRepeat);
      const pull = take(client, { method, reference, subject, now: now() });
      // Deleted first, because the size of a value that is only set again is not calculated.
      clients.delete(key);
      clients.set(key, client);
      return pull;
    },
  };
}

interface Taken extends Pick<ImageRequest, "method"> {
  reference: string;
  /** The digest of the manifest whose referrers are asked for. */
  subject: string | undefined;
  now: number;
}

function take(client: PullingClient, { method, reference, subject, now }: Taken): Pull | undefined {
  if (subject !== undefined) return client.takeReferrers(shortened(subject), now);
  if (isTag(reference)) return client.takeTag(method, reference, now);
  return client.takeDigest(method, shortened(reference), now);
}

/** 44 characters for a text of any length, which is not kept in memory. */
function shortened(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
