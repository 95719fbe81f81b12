import {
  PULL_MS,
  RememberedManifests,
  type RememberedDigest,
  type RememberedTag,
} from "./remembered-manifests.js";

export interface Pull {
  /** The tag. A digest names one build, so a pull by digest has none. */
  version: string | undefined;
}

/** How long a client may take to log in and to ask again. */
const REPEAT_MS = 10_000;

/**
 * The requests for manifests from one address, with one user agent, for one image. It finds what a person means by a
 * pull, however many manifests the client asks for. Within two minutes:
 *
 * - GET of a tag is a pull of it.
 * - HEAD of a tag opens a pull, which the next GET of a digest makes. HEAD alone is none.
 * - A digest belongs to the newest open HEAD, which may be one of the digest itself. Every pull closes the HEADs of other
 *   tags before it: these tags were only looked at, as kubelet does before it starts an image that the machine has.
 * - Other digests after a pull belong to it: the manifest of the platform, out of an index.
 * - GET of a digest with none of this before is a pull without version.
 * - Digests that are first asked for after a request for referrers, before the next HEAD of a tag, are those of
 *   signatures, attestations or SBOMs. They make no pull.
 *
 * Many machines behind one address look like one client, so "the next digest" is not enough. The digest that follows
 * the first HEAD is remembered as that of the tag, and each GET of it is one pull, at most as many as there were HEADs.
 * Any other new digest takes a HEAD only if that came after the last pull: the tag may have been moved. If the
 * remembered digest is asked for after all, the other one was for the platform of another machine, and this GET was
 * counted in advance.
 *
 * A client that `mayRepeat` (containerd 1.6) logs in for HEAD and once more for GET, and sends both again after a 401
 * of the registry, which this host does not see. So when two HEADs come soon after one another before the first GET,
 * every second GET of that digest is taken for a repeated one. If those were two machines after all, the manifest of
 * their platform tells: a machine asks for it once, so there are at least as many pulls as GETs of it.
 */
export class PullingClient {
  private readonly seen = new RememberedManifests();
  /** Orders HEADs and pulls, which may come in the same millisecond. */
  private step = 0;
  private pulls = 0;
  private pulledStep = 0;
  private pulledAt = -Infinity;
  private referrersAt = -Infinity;
  private referrersStep = 0;

  constructor(private readonly mayRepeat: boolean) {}

  get size(): number {
    return this.seen.size;
  }

  takeTag(method: "GET" | "HEAD", name: string, now: number): Pull | undefined {
    this.begin(now);
    const tag = this.seen.tag(name);
    if (method === "GET") {
      tag.pulledAt = now;
      return this.pull(tag, now);
    }
    tag.opened++;
    tag.isOpenedTwice = now - tag.openedAt < REPEAT_MS;
    tag.openedAt = now;
    tag.openedStep = this.step;
    return undefined;
  }

  /** `subject` is the manifest to which signatures and the like refer. */
  takeReferrers(subject: string, now: number): undefined {
    this.begin(now);
    this.seen.digest(subject, now);
    // The last HEAD found the manifest out. Tags are in the order of use.
    const resolved = [...this.seen.tags.values()].findLast((tag) => tag.opened > 0 && isUnresolved(tag));
    if (resolved !== undefined) Object.assign(resolved, { digest: subject, digestAt: now });
    this.referrersAt = now;
    this.referrersStep = this.step;
  }

  takeDigest(method: "GET" | "HEAD", key: string, now: number): Pull | undefined {
    this.begin(now);
    const isReferrer = !this.seen.digests.has(key) && this.looksAtReferrers(now);
    const digest = this.seen.digest(key, now);
    digest.isReferrer ||= isReferrer;
    if (digest.isReferrer) return undefined;
    if (method === "HEAD") {
      digest.heads++;
      digest.headStep = this.step;
      return undefined;
    }
    digest.gets++;
    const tags = [...this.seen.tags.values()];
    const own = tags.filter((tag) => tag.digest === key);
    for (const tag of own) tag.digestAt = now;
    if (now - digest.repeatableAt < REPEAT_MS) {
      digest.repeatableAt = -Infinity;
      for (const tag of own.slice(0, 1)) tag.opened = Math.max(0, tag.opened - 1);
      return undefined;
    }
    return this.count({ key, digest, tags, own, now });
  }

  /** Until it opens a pull again. */
  private looksAtReferrers(now: number): boolean {
    const isOpened = [...this.seen.tags.values()].some(
      ({ opened, openedStep }) => opened > 0 && openedStep > this.referrersStep,
    );
    return now - this.referrersAt < PULL_MS && !isOpened;
  }

  private count({ key, digest, tags, own, now }: AskedDigest): Pull | undefined {
    const opened = tags.filter((tag) => tag.opened > 0 && tag.openedStep > digest.headStep);
    this.pulledStep = Math.max(this.pulledStep, digest.headStep);
    digest.headStep = -Infinity;
    const openedSince = opened.filter((tag) => tag.openedStep > this.pulledStep);
    const isOwn = (tag: RememberedTag) => own.includes(tag);
    const isNew = digest.gets === 1;

    const next = openedSince.findLast((tag) => tag.digest === undefined || isOwn(tag));
    if (next !== undefined) return this.pullBy(next, { key, digest, now });
    const counted = own.find((tag) => tag.inAdvance > 0);
    if (counted !== undefined) {
      counted.inAdvance--;
      if (counted.isRepeated) digest.repeatableAt = now;
      return undefined;
    }
    const waiting = opened.findLast(isOwn);
    if (waiting !== undefined) return this.pullBy(waiting, { key, digest, now });
    const moved = isNew ? openedSince.at(-1) : undefined;
    if (moved !== undefined) {
      moved.inAdvance++;
      return this.pull(moved, now);
    }
    const shared = own.length === 0 ? tags.find((tag) => tag.isRepeated) : undefined;
    if (shared !== undefined && digest.gets > this.pulls) return this.pull(shared, now);
    if (!digest.isPull && now - this.pulledAt < PULL_MS) return undefined;
    digest.isPull = true;
    if (this.mayRepeat && digest.heads > 1) digest.repeatableAt = now;
    return this.pull(undefined, now);
  }

  /** The digest makes a pull of the tag. */
  private pullBy(tag: RememberedTag, { key, digest, now }: Omit<AskedDigest, "tags" | "own">): Pull {
    if (tag.digest === undefined) tag.isRepeated = this.mayRepeat && tag.opened > 1 && tag.isOpenedTwice;
    if (tag.isRepeated) digest.repeatableAt = now;
    tag.digest = key;
    tag.digestAt = now;
    return this.pull(tag, now);
  }

  private pull(tag: RememberedTag | undefined, now: number): Pull {
    this.pulls++;
    this.pulledStep = this.step;
    this.pulledAt = now;
    if (tag !== undefined) tag.opened = Math.max(0, tag.opened - 1);
    return { version: tag?.name };
  }

  private begin(now: number): void {
    this.step++;
    this.seen.forgetOld(now);
  }
}

interface AskedDigest {
  key: string;
  digest: RememberedDigest;
  tags: readonly RememberedTag[];
  /** Those that this digest is remembered for. */
  own: readonly RememberedTag[];
  now: number;
}

/** Whether a first digest of the tag may still follow. None follows a GET of the tag itself. */
function isUnresolved({ digest, pulledAt }: RememberedTag): boolean {
  return digest === undefined && pulledAt === -Infinity;
}
