import { LRUCache } from "lru-cache";
import type { Artifact, ArtifactKind } from "../../schemas/records/artifact.js";

/** Asks for the artifact of a line, for the account that started the import and the owner on its path. */
export interface ArtifactRequest {
  accountId: string;
  ownerId: string;
  kind: ArtifactKind;
  /** A UUID, or the name of one of the owner's. */
  id: string;
}

/**
 * Answers the artifact if the account may import into it. Refuses only from records that were read after
 * `since`, a time of `performance.now()`: it may have been created just before.
 */
export type ResolveArtifact = (request: ArtifactRequest, since: number) => Promise<Artifact | undefined>;

const ENTRIES_MAX = 20_000;
/** How long an answer is trusted, in milliseconds. */
export const TRUSTED_MS = 1_000;

type Answer = { artifact: Artifact | undefined };
type TimedAnswer = Answer & { askedAt: number };

export type ArtifactOf = (target: Pick<ArtifactRequest, "kind" | "id">) => Answer | Promise<Answer>;

/**
 * Caches answers for a second, after which a permission that was taken away takes effect. A refusal holds
 * only for chunks begun before: a package may be created within that second.
 */
export class ArtifactCache {
  private readonly answers = new LRUCache<string, TimedAnswer>({ max: ENTRIES_MAX, ttl: TRUSTED_MS });

  constructor(private readonly resolve: ResolveArtifact) {}

  /**
   * For the lines of one chunk an answer holds for all. Making a key and asking the cache took 1 µs a line,
   * and 4 where lines name many artifacts.
   */
  forChunk({ accountId, ownerId }: Pick<ArtifactRequest, "accountId" | "ownerId">): ArtifactOf {
    const since = performance.now();
    const known = { package: new Map<string, Answer>(), pixel: new Map<string, Answer>() };
    return ({ kind, id }) => {
      const answer = known[kind].get(id);
      if (answer !== undefined) return answer;
      const asked = this.of({ accountId, ownerId, kind, id }, since);
      if (!(asked instanceof Promise)) known[kind].set(id, asked);
      return asked;
    };
  }

  /** A promise only where the answer is not cached: cached lines do not wait for each other. */
  of(request: ArtifactRequest, since = performance.now()): Answer | Promise<Answer> {
    const key = `${request.accountId} ${request.ownerId} ${request.kind} ${request.id}`;
    const known = this.answers.get(key);
    const isKnown = known !== undefined && (known.artifact !== undefined || known.askedAt >= since);
    return isKnown ? known : this.fetch(key, request, since);
  }

  private async fetch(key: string, request: ArtifactRequest, since: number): Promise<Answer> {
    const askedAt = performance.now();
    const answer = { artifact: await this.resolve(request, since), askedAt };
    this.answers.set(key, answer);
    return answer;
  }
}

export type ArtifactId = Pick<Artifact, "kind" | "id">;

/** Those of these packages and pixels that exist, of any owner. */
export type ResolveLive = (ids: readonly ArtifactId[]) => Promise<Artifact[]>;

const LIVE_ENTRIES_MAX = 10_000;

/**
 * Artifacts that the collector has checked. A chunk can name a thousand: those not cached are resolved at
 * once. Cached for a second.
 */
export class LiveArtifacts {
  private readonly answers = new LRUCache<string, Answer>({ max: LIVE_ENTRIES_MAX, ttl: TRUSTED_MS });

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
