/** Counts the bytes that one owner's pages occupy while they are read. */
export interface ByteBudget {
  /** Adds the bytes in any case; answers whether the total is within the limits. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** Limits bytes to `perOwner` for each owner, so that none uses up the memory of all, and to `inAll` in total. */
export function limitBytes({ perOwner, inAll }: { perOwner: number; inAll: number }) {
  let total = 0;
  const owners = new Map<string, number>();

  return (ownerId: string): ByteBudget => ({
    reserve(bytes) {
      const reserved = (owners.get(ownerId) ?? 0) + bytes;
      owners.set(ownerId, reserved);
      total += bytes;
      return reserved <= perOwner && total <= inAll;
    },
    release(bytes) {
      const left = (owners.get(ownerId) ?? 0) - bytes;
      if (left > 0) owners.set(ownerId, left);
      else owners.delete(ownerId);
      total -= bytes;
    },
  });
}
