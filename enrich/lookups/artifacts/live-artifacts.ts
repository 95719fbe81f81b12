import { LRUCache } from "lru-cache";
import type { Artifact } from "../../schemas/records/artifact.js";
import type { Target } from "../lines/target-of.js";

/** Those of these packages and pixels that exist, whoever owns them. */
export type ResolveLive = (targets: readonly Target[]) => Promise<Artifact[]>;

const ENTRIES_MAX = 100_000;
const TRUSTED_MS = 1_000;

type Answer = { artifact: Artifact | undefined };

/**
 * What live events belong to: the collector has checked that they may. A chunk of them can name a thousand packages, so
 * all that are not known are asked for at once; answers are trusted for a second.
 */
export class LiveArtifacts {
  private readonly answers = new LRUCache<string, Answer>({ max: ENTRIES_MAX, ttl: TRUSTED_MS });

  constructor(private readonly resolve: ResolveLive) {}

  /** By kind and id; see `keyOf`. */
  async among(targets: readonly Target[]): Promise<ReadonlyMap<string, Artifact>> {
    const found = new Map<string, Artifact>();
    const asked = new Map<string, Target>();
    for (const target of targets) {
      const key = keyOf(target);
      const answer = this.answers.get(key);
      if (answer === undefined) asked.set(key, target);
      else if (answer.artifact !== undefined) found.set(key, answer.artifact);
    }
    if (asked.size === 0) return found;
    for (const artifact of await this.resolve([...asked.values()])) found.set(keyOf(artifact), artifact);
    for (const key of asked.keys()) this.answers.set(key, { artifact: found.get(key) });
    return found;
  }
}

export function keyOf({ kind, id }: Target): string {
  return `${kind} ${id}`;
}
