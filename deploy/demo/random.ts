/**
 * splitmix32 with the finaliser "lowbias32" by Chris Wellons (public domain,
 * https://nullprogram.com/blog/2018/07/31/). Not for secrets.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** An independent stream for one line and `purpose`, which allows random access to lines. */
  static at(seed: number, index: number, purpose: number): Random {
    return new Random(mix32(mix32(seed ^ Math.imul(purpose + 1, GOLDEN)) + Math.imul(index, GOLDEN)));
  }

  uint32(): number {
    this.#state = (this.#state + GOLDEN) | 0;
    return mix32(this.#state) >>> 0;
  }

  share(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  below(limit: number): number {
    return Math.floor(this.share() * limit);
  }

  chance(probability: number): boolean {
    return this.share() < probability;
  }

  /**
   * From 0 to `limit` - 1, by the Zipf-Mandelbrot law with exponent 1: about the first `flatness` integers
   * are equally likely.
   */
  belowSkewed(limit: number, flatness = 1): number {
    const spread = Math.exp(this.share() * Math.log((limit + flatness) / flatness)) - 1;
    return Math.min(limit - 1, Math.floor(flatness * spread));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  pickSkewed<T>(list: readonly T[], flatness = 1): T {
    return list[this.belowSkewed(list.length, flatness)] as T;
  }

  /** `digits` (up to 8) hexadecimal digits. */
  hex(digits: number): string {
    return this.uint32()
      .toString(16)
      .padStart(8, "0")
      .slice(8 - digits);
  }
}

const GOLDEN = 0x9e3779b9 | 0;

function mix32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}
