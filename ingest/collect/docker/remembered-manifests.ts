/** How long requests of a client belong together. */
export const PULL_MS = 120_000;

export interface RememberedTag {
  name: string;
  /** HEADs that no pull has taken, and the last of them. */
  opened: number;
  openedAt: number;
  openedStep: number;
  /** Whether the last HEAD came soon after the one before it. */
  isOpenedTwice: boolean;
  /** The digest that followed the first HEAD, and when it was last asked for. */
  digest: string | undefined;
  digestAt: number;
  /** The last GET of the tag itself. */
  pulledAt: number;
  /** Pulls that another digest has made. */
  inAdvance: number;
  /** Whether each machine seems to ask for the digest twice. */
  isRepeated: boolean;
}

export interface RememberedDigest {
  at: number;
  heads: number;
  /** The last HEAD that no GET of it has followed. */
  headStep: number;
  gets: number;
  /** Whether it was pulled without a tag. */
  isPull: boolean;
  /** Whether it is a signature, an attestation or an SBOM of another manifest. */
  isReferrer: boolean;
  /** When a GET of it was counted that will be repeated. */
  repeatableAt: number;
}

const TAGS_MAX = 100;
const DIGESTS_MAX = 400;

/** The tags and digests that one client asked for within two minutes, in the order of use. */
export class RememberedManifests {
  readonly tags = new Map<string, RememberedTag>();
  readonly digests = new Map<string, RememberedDigest>();

  get size(): number {
    return this.tags.size + this.digests.size;
  }

  tag(name: string): RememberedTag {
    const tag = this.tags.get(name) ?? newTag(name);
    touch(this.tags, { key: tag.name, value: tag, max: TAGS_MAX });
    return tag;
  }

  digest(key: string, now: number): RememberedDigest {
    const digest = { ...NEW_DIGEST, ...this.digests.get(key), at: now };
    touch(this.digests, { key, value: digest, max: DIGESTS_MAX });
    return digest;
  }

  forgetOld(now: number): void {
    const isOld = (at: number) => now - at >= PULL_MS;
    for (const [key, { at }] of this.digests) if (isOld(at)) this.digests.delete(key);
    for (const [name, tag] of this.tags) {
      if (isOld(tag.openedAt)) tag.opened = 0;
      if (isOld(tag.digestAt)) Object.assign(tag, { digest: undefined, inAdvance: 0, isRepeated: false });
      if (tag.opened === 0 && tag.digest === undefined && isOld(tag.pulledAt)) this.tags.delete(name);
    }
  }
}

const NEW_DIGEST = {
  heads: 0,
  headStep: -Infinity,
  gets: 0,
  isPull: false,
  isReferrer: false,
  repeatableAt: -Infinity,
};

function newTag(name: string): RememberedTag {
  return {
    // A copy: the name is a part of a whole request target, which it would keep in memory.
    name: Buffer.from(name).toString(),
    opened: 0,
    openedAt: -Infinity,
    openedStep: 0,
    isOpenedTwice: false,
    digest: undefined,
    digestAt: -Infinity,
    pulledAt: -Infinity,
    inAdvance: 0,
    isRepeated: false,
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
