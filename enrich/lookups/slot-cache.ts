/**
 * Keeps the last value of each slot, by two numbers of 32 bits that choose it. Allocates nothing but the values:
 * for addresses that hardly ever come again, Maps that grow and are dropped took three times as long.
 */
export class SlotCache<Value> {
  private readonly keys: Uint32Array;
  private readonly values: (Value | undefined)[];

  /** @param slotBits 16 for 65,536 slots, of 16 bytes each */
  constructor(private readonly slotBits: number) {
    this.keys = new Uint32Array(2 ** (slotBits + 1));
    this.values = new Array<Value | undefined>(2 ** slotBits).fill(undefined);
  }

  get(one: number, other: number): Value | undefined {
    const slot = this.slotOf(one, other);
    const isKept = this.keys[slot * 2] === one && this.keys[slot * 2 + 1] === other;
    return isKept ? this.values[slot] : undefined;
  }

  set(one: number, other: number, value: Value): void {
    const slot = this.slotOf(one, other);
    this.keys[slot * 2] = one;
    this.keys[slot * 2 + 1] = other;
    this.values[slot] = value;
  }

  /** Multiplicative hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4. */
  private slotOf(one: number, other: number): number {
    return Math.imul(Math.imul(one, 0x9e3779b1) ^ other, 0x9e3779b1) >>> (32 - this.slotBits);
  }
}
