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

/** Caches answers of `resolve`, refusals too, for a second: a changed permission takes effect after that time. */
export class ArtifactCache {
  private readonly answers = new LRUCache<string, Answer>({ max: ENTRIES_MAX, ttl: TRUSTED_MS });
  /** Most lines name the artifact of the line before: this saves making a key and looking it up, 1 µs a line. */
  private last: { request: ArtifactRequest; answer: Answer; until: number } | undefined;

  constructor(private readonly resolve: ResolveArtifact) {}

  /** A promise only where the answer is not cached: cached lines do not wait for each other. */
  of(request: ArtifactRequest): Answer | Promise<Answer> {
    const { last } = this;
    if (last !== undefined && isSame(last.request, request) && last.until > Date.now()) return last.answer;
    const key = `${request.accountId} ${request.ownerId} ${request.kind} ${request.id}`;
    const answer = this.answers.get(key);
    if (answer === undefined) return this.fetch(key, request);
    this.last = { request, answer, until: Date.now() + this.answers.getRemainingTTL(key) };
    return answer;
  }

  private async fetch(key: string, request: ArtifactRequest): Promise<Answer> {
    const answer = { artifact: await this.resolve(request) };
    this.answers.set(key, answer);
    return answer;
  }
}

function isSame(a: ArtifactRequest, b: ArtifactRequest): boolean {
  return a.id === b.id && a.kind === b.kind && a.ownerId === b.ownerId && a.accountId === b.accountId;
}
