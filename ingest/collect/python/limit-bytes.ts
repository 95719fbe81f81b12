/** Counts the bytes of what one owner has read at the moment. */
export interface BytesUnderWay {
  /** Counts them in any case; says whether they are within the limits. */
  take(bytes: number): boolean;
  giveUp(bytes: number): void;
}

/** At most `perOwner` for each owner, so that none takes the room of all others, and `inAll` for all of them. */
export function limitBytes({ perOwner, inAll }: { perOwner: number; inAll: number }) {
  const all = { taken: 0 };
  const owners = new Map<string, number>();

  return (ownerId: string): BytesUnderWay => ({
    take(bytes) {
      const taken = (owners.get(ownerId) ?? 0) + bytes;
      owners.set(ownerId, taken);
      all.taken += bytes;
      return taken <= perOwner && all.taken <= inAll;
    },
    giveUp(bytes) {
      const left = (owners.get(ownerId) ?? 0) - bytes;
      if (left > 0) owners.set(ownerId, left);
      else owners.delete(ownerId);
      all.taken -= bytes;
    },
  });
}
