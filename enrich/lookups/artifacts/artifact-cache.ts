import { LRUCache } from "lru-cache";
import type { Artifact, ArtifactKind } from "../../../schemas/records/artifact.js";

/** Asks for the artifact of a line, for the account that started the import and the owner on its path. */
export interface ArtifactRequest {
  accountId: string;
  ownerId: string;
  kind: ArtifactKind;
  id: string;
}

/** The artifact, when it exists, belongs to the owner and the account may import into it. */
export type ResolveArtifact = (request: ArtifactRequest) => Promise<Artifact | undefined>;

const ENTRIES_MAX = 20_000;
const TRUSTED_MS = 1_000;

type Answer = { artifact: Artifact | undefined };

/** The artifact that a line names, if its sender may write to it; a promise only where the answer is not cached. */
export type ArtifactOf = (target: Pick<ArtifactRequest, "kind" | "id">) => Answer | Promise<Answer>;

/** Caches answers of `resolve`, refusals too, for a second: a changed permission takes effect after that time. */
export class ArtifactCache {
  private readonly answers = new LRUCache<string, Answer>({ max: ENTRIES_MAX, ttl: TRUSTED_MS });

  constructor(private readonly resolve: ResolveArtifact) {}

  /**
   * For the lines of one chunk, which is read within milliseconds: an answer that one of its lines got holds for all.
   * Making a key and asking the cache took 1 µs a line, and 4 where lines name many artifacts.
   */
  forChunk({ accountId, ownerId }: Pick<ArtifactRequest, "accountId" | "ownerId">): ArtifactOf {
    const known = { package: new Map<string, Answer>(), pixel: new Map<string, Answer>() };
    return ({ kind, id }) => {
      const answer = known[kind].get(id);
      if (answer !== undefined) return answer;
      const asked = this.of({ accountId, ownerId, kind, id });
      if (!(asked instanceof Promise)) known[kind].set(id, asked);
      return asked;
    };
  }

  /** A promise only where the answer is not cached: cached lines do not wait for each other. */
  of(request: ArtifactRequest): Answer | Promise<Answer> {
    const key = `${request.accountId} ${request.ownerId} ${request.kind} ${request.id}`;
    return this.answers.get(key) ?? this.fetch(key, request);
  }

  private async fetch(key: string, request: ArtifactRequest): Promise<Answer> {
    const answer = { artifact: await this.resolve(request) };
    this.answers.set(key, answer);
    return answer;
  }
}
