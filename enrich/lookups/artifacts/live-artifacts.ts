import { LRUCache } from "lru-cache";
import type { Artifact } from "../../../schemas/records/artifact.js";
import { TRUSTED_MS } from "./artifact-cache.js";

export type ArtifactId = Pick<Artifact, "kind" | "id">;

/** Those of these packages and pixels that exist, of any owner. */
export type ResolveLive = (ids: readonly ArtifactId[]) => Promise<Artifact[]>;

const ENTRIES_MAX = 10_000;

type Answer = { artifact: Artifact | undefined };

/**
 * The artifacts of live events; the collector has checked that these may write to them. A chunk of them can name a
 * thousand artifacts: all that are not cached are resolved at once. Answers are cached for a second.
 */
export class LiveArtifacts {
  private readonly answers = new LRUCache<string, Answer>({ max: ENTRIES_MAX, ttl: TRUSTED_MS });

  constructor(private readonly resolve: ResolveLive) {}

  /** By kind and id; see `keyOf`. */
  async among(ids: readonly ArtifactId[]): Promise<ReadonlyMap<string, Artifact>> {
    const found = new Map<string, Artifact>();
    const missing = new Map<string, ArtifactId>();
    for (const id of ids) {
      const key = keyOf(id);
      const answer = this.answers.get(key);
      if (answer === undefined) missing.set(key, id);
      else if (answer.artifact !== undefined) found.set(key, answer.artifact);
    }
    if (missing.size === 0) return found;
    for (const artifact of await this.resolve([...missing.values()])) found.set(keyOf(artifact), artifact);
    for (const key of missing.keys()) this.answers.set(key, { artifact: found.get(key) });
    return found;
  }
}

export function keyOf({ kind, id }: ArtifactId): string {
  return `${kind} ${id}`;
}
