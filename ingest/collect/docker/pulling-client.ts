export interface Pull {
  /** The tag. A digest names one build, so a pull by digest has none. */
  version: string | undefined;
}

/** How long requests of a client belong together. */
const PULL_MS = 120_000;
const TAGS_MAX = 100;
const DIGESTS_MAX = 400;

interface Tag {
  name: string;
  /** HEADs that no pull has taken, and the last of them. */
  opened: number;
  openedAt: number;
  openedStep: number;
  /** The digest that followed the first HEAD, and its last pull. */
  digest: string | undefined;
  digestAt: number;
  /** The last GET of the tag itself. */
  pulledAt: number;
  /** Pulls that other digests have made. */
  inAdvance: number;
}

/**
 * The requests for manifests from one address, with one user agent, for one image. It finds what a person means by a
 * pull, however many manifests the client asks for. Within two minutes:
 *
 * - GET of a tag is a pull of it.
 * - HEAD of a tag opens a pull, which the next GET of a digest makes. HEAD alone is none.
 * - Other digests after a pull belong to it: the manifest of the platform, out of an index.
 * - GET of a digest with none of this before is a pull without version.
 *
 * Many machines behind one address look like one client, and containerd repeats a HEAD that the registry has answered
 * with 401. So neither "the next digest" nor the number of HEADs is enough. But each machine asks for a manifest once a
 * pull. The digest that follows the first HEAD is remembered as that of the tag, and each GET of it is one pull, at
 * most as many as there were HEADs. Any other new digest takes a HEAD only if that came after the last pull: the tag
 * may have been moved. If the remembered digest is asked for after all, the other one was for the platform of another
 * machine, and this GET was counted in advance.
 */
export class PullingClient {
  /** In the order of use. */
  private readonly tags = new Map<string, Tag>();
  /** The digests that were asked for, in the order of use. */
  private readonly digests = new Map<string, { at: number; isPull: boolean }>();
  /** Orders HEADs and pulls, which may come in the same millisecond. */
  private step = 0;
  private pulledStep = 0;
  private pulledAt = -Infinity;

  /** How many tags and digests are remembered. */
  get size(): number {
    return this.tags.size + this.digests.size;
  }

  takeTag(method: "GET" | "HEAD", name: string, now: number): Pull | undefined {
    this.begin(now);
    const tag = this.tagOf(name);
    if (method === "GET") {
      tag.pulledAt = now;
      return this.pull(tag, now);
    }
    tag.opened++;
    tag.openedAt = now;
    tag.openedStep = this.step;
    return undefined;
  }

  takeDigest(digest: string, now: number): Pull | undefined {
    this.begin(now);
    const before = this.digests.get(digest);
    const isPull = before?.isPull ?? false;
    touch(this.digests, { key: digest, value: { at: now, isPull }, max: DIGESTS_MAX });
    const tags = [...this.tags.values()];
    const opened = tags.filter((tag) => tag.opened > 0);
    const openedSince = opened.filter((tag) => tag.openedStep > this.pulledStep);
    const isOf = (tag: Tag) => tag.digest === digest;

    const next = openedSince.find(isOf) ?? openedSince.find((tag) => tag.digest === undefined);
    if (next !== undefined) return this.pullDigest(next, digest, now);
    const counted = tags.find((tag) => isOf(tag) && tag.inAdvance > 0);
    if (counted !== undefined) {
      counted.inAdvance--;
      return undefined;
    }
    const isNew = before === undefined;
    const waiting = opened.find(isOf) ?? (isNew ? opened.find(isUnresolved) : undefined);
    if (waiting !== undefined) return this.pullDigest(waiting, digest, now);
    const moved = isNew ? openedSince[0] : undefined;
    if (moved !== undefined) {
      moved.inAdvance++;
      return this.pull(moved, now);
    }
    if (!isPull && now - this.pulledAt < PULL_MS) return undefined;
    this.digests.set(digest, { at: now, isPull: true });
    return this.pull(undefined, now);
  }

  private pullDigest(tag: Tag, digest: string, now: number): Pull {
    tag.digest = digest;
    tag.digestAt = now;
    return this.pull(tag, now);
  }

  private pull(tag: Tag | undefined, now: number): Pull {
    this.pulledStep = this.step;
    this.pulledAt = now;
    if (tag !== undefined) tag.opened = Math.max(0, tag.opened - 1);
    return { version: tag?.name };
  }

  private tagOf(name: string): Tag {
    const tag = this.tags.get(name) ?? newTag(name);
    touch(this.tags, { key: tag.name, value: tag, max: TAGS_MAX });
    return tag;
  }

  private begin(now: number): void {
    this.step++;
    const isOver = (at: number) => now - at >= PULL_MS;
    for (const [digest, { at }] of this.digests) if (isOver(at)) this.digests.delete(digest);
    for (const [name, tag] of this.tags) {
      if (isOver(tag.openedAt)) tag.opened = 0;
      if (isOver(tag.digestAt)) Object.assign(tag, { digest: undefined, inAdvance: 0 });
      if (tag.opened === 0 && tag.digest === undefined && isOver(tag.pulledAt)) this.tags.delete(name);
    }
  }
}

/** Where the client asks by tag, no digest stands for it. */
function isUnresolved({ digest, pulledAt }: Tag): boolean {
  return digest === undefined && pulledAt === -Infinity;
}

function newTag(name: string): Tag {
  return {
    // A copy: the name is a part of a whole request target, which it would keep in memory.
    name: Buffer.from(name).toString(),
    opened: 0,
    openedAt: -Infinity,
    openedStep: 0,
    digest: undefined,
    digestAt: -Infinity,
    pulledAt: -Infinity,
    inAdvance: 0,
  };
}

interface Entry<Value> {
  key: string;
  value: Value;
  max: number;
}

/** Puts a value at the end, and drops the first one when there are too many. */
function touch<Value>(map: Map<string, Value>, { key, value, max }: Entry<Value>): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > max && first !== undefined) map.delete(first);
}
