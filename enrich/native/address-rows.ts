import type { Ids } from "../lookups/open-ids.js";
import { addressOf, ADDRESS_WORDS } from "../lookups/parse-address.js";
import { Uint32List } from "./byte-sink.js";
import type { Column } from "./columns.js";

/** Addresses, which are not stored: only columns of their ids are. */
export class AddressRows {
  private readonly words = new Uint32List();
  /** Rows without an address. */
  private readonly unknown = new Uint32List();
  /** Of the rows so far, for both columns. */
  private endpoints: Uint32Array<ArrayBuffer> | undefined;

  constructor(private readonly keyed: Pick<Ids, "endpoints">) {}

  add(text: string): void {
    this.endpoints = undefined;
    const { family, words } = addressOf(text);
    if (family === 0) this.unknown.push(this.words.length / ADDRESS_WORDS);
    for (let word = 0; word < ADDRESS_WORDS; word++) this.words.push(words[word]!);
  }

  clear(): void {
    this.endpoints = undefined;
    this.words.clear();
    this.unknown.clear();
  }

  /** Zeros where there is no address. */
  ids(idsOf: (endpoints: Uint32Array<ArrayBuffer>) => Uint32Array<ArrayBuffer>): Column {
    return {
      type: "FixedString(16)",
      data: () => {
        this.endpoints ??= this.keyed.endpoints(this.words.all());
        const ids = idsOf(this.endpoints);
        for (const row of this.unknown.all()) ids.fill(0, row * ADDRESS_WORDS, (row + 1) * ADDRESS_WORDS);
        return [Buffer.from(ids.buffer)];
      },
    };
  }
}
