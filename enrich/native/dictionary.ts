import { ByteSink } from "./byte-sink.js";

const KEYS_VERSION = 1;
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEED_UPDATE_DICTIONARY = 1 << 10;
const INDEX_UINT32 = 2;

/**
 * The different texts of a column of one block, in the order of their first row. Source of the layout: ClickHouse,
 * SerializationLowCardinality (keys version; index type and flags; keys; rows; indexes).
 */
export class Dictionary {
  private readonly indexByText = new Map<string, number>();
  private readonly keys = new ByteSink();

  indexOf(text: string): number {
    const known = this.indexByText.get(text);
    if (known !== undefined) return known;
    const index = this.indexByText.size;
    this.indexByText.set(text, index);
    this.keys.writeText(text);
    return index;
  }

  clear(): void {
    this.indexByText.clear();
    this.keys.clear();
  }

  /** The data of the column; `indexes` has 32 bits a row. */
  data(rows: number, indexes: Buffer): Buffer[] {
    const head = new ByteSink(32);
    head.writeUint64(KEYS_VERSION);
    head.writeUint64(INDEX_UINT32 | HAS_ADDITIONAL_KEYS | NEED_UPDATE_DICTIONARY);
    head.writeUint64(this.indexByText.size);
    const middle = new ByteSink(8);
    middle.writeUint64(rows);
    return [head.bytes(), this.keys.bytes(), middle.bytes(), indexes];
  }
}
