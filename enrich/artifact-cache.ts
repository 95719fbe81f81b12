import { LRUCache } from "lru-cache";
import type { Artifact, ArtifactKind } from "../schemas/artifact.js";

/** Who wants to write what: the account that started the import, the owner on its path, the artifact of the line. */
export interface ArtifactRequest {
  accountId: string;
  ownerId: string;
  kind: ArtifactKind;
  id: string;
}

/** The artifact, when it exists, belongs to the owner and the account may import into it. */
export type ResolveArtifact = (request: ArtifactRequest) => Promise<Artifact | undefined>;

const ENTRIES_MAX = 20_000;
const TRUSTED_MS = 5_000;

/** Answers of `resolve`, also the refusals, for five seconds: a right that was taken away ends within that time. */
export class ArtifactCache {
  private readonly answers = new LRUCache<string, { artifact: Artifact | undefined }>({
    max: ENTRIES_MAX,
    ttl: TRUSTED_MS,
  });

  constructor(private readonly resolve: ResolveArtifact) {}

  /** A promise only where the answer is not at hand: lines of one artifact do not wait for each other. */
  of(
    request: ArtifactRequest,
  ): { artifact: Artifact | undefined } | Promise<{ artifact: Artifact | undefined }> {
    const key = `${request.accountId} ${request.ownerId} ${request.kind} ${request.id}`;
    return this.answers.get(key) ?? this.fetch(key, request);
  }

  private async fetch(key: string, request: ArtifactRequest): Promise<{ artifact: Artifact | undefined }> {
    const answer = { artifact: await this.resolve(request) };
    this.answers.set(key, answer);
    return answer;
  }
}
