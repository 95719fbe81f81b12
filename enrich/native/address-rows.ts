import { addressOf, ADDRESS_WORDS } from "../lookups/parse-address.js";
import { Uint32List } from "./byte-sink.js";
import type { Column } from "./columns.js";

/** Addresses, which are not stored: only columns of their ids are. */
export class AddressRows {
  private readonly words = new Uint32List();
  /** Rows without an address. */
  private readonly unknown = new Uint32List();

  add(text: string): void {
    const { family, words } = addressOf(text);
    if (family === 0) this.unknown.push(this.words.length / ADDRESS_WORDS);
    for (let word = 0; word < ADDRESS_WORDS; word++) this.words.push(words[word]!);
  }

  clear(): void {
    this.words.clear();
    this.unknown.clear();
  }

  /** Zeros where there is no address. */
  ids(idsOf: (addresses: Uint32Array) => Uint32Array<ArrayBuffer>): Column {
    return {
      type: "FixedString(16)",
      data: () => {
        const ids = idsOf(this.words.all());
        for (const row of this.unknown.all()) ids.fill(0, row * ADDRESS_WORDS, (row + 1) * ADDRESS_WORDS);
        return [Buffer.from(ids.buffer)];
      },
    };
  }
}
