import { ByteSink, Uint32List } from "./byte-sink.js";

/** A column of a block in ClickHouse's Native format: a name and type in the header, then `data()`. */
export interface Column {
  readonly type: string;
  /**
   * The bytes after the header, for `rows` values. Views of the column, valid until a value is added or it is
   * cleared: copies took 0.7 µs of processor time an event.
   */
  data(rows: number): Buffer[];
}

export interface RowColumn extends Column {
  clear(): void;
}

/** Values of a fixed number of bytes, one after the other. */
export class FixedColumn implements RowColumn {
  readonly sink = new ByteSink();
  constructor(readonly type: string) {}

  clear(): void {
    this.sink.clear();
  }

  data(): Buffer[] {
    return [this.sink.bytes()];
  }
}

export class TextColumn implements RowColumn {
  readonly type = "String";
  private readonly sink = new ByteSink();

  add(text: string): void {
    this.sink.writeText(text);
  }

  /** ClickHouse's strings are bytes: they need not be UTF-8. */
  addBytes(bytes: Uint8Array): void {
    this.sink.writeVarUint(bytes.length);
    this.sink.writeBytes(bytes);
  }

  clear(): void {
    this.sink.clear();
  }

  data(): Buffer[] {
    return [this.sink.bytes()];
  }
}

/** Repeated texts as a dictionary of the block and an index a row. */
export class LowCardinalityColumn implements RowColumn {
  readonly type = "LowCardinality(String)";
  private readonly dictionary = new Dictionary();
  private readonly indexes = new Uint32List();
  private lastText = "";
  private lastIndex = -1;

  add(text: string): void {
    if (text !== this.lastText || this.lastIndex < 0) {
      this.lastIndex = this.dictionary.indexOf(text);
      this.lastText = text;
    }
    this.indexes.push(this.lastIndex);
  }

  /** The words that `wordsOf` makes of each row's text, once for equal texts. */
  repeat(wordsOf: (text: string) => Uint32Array): Uint32Array {
    const words = this.dictionary.texts().map(wordsOf);
    const width = words[0]?.length ?? 0;
    const repeated = new Uint32Array(this.indexes.length * width);
    const indexes = this.indexes.all();
    for (let row = 0, to = 0; row < indexes.length; row++) {
      const from = words[indexes[row]!]!;
      for (let at = 0; at < width; at++) repeated[to++] = from[at]!;
    }
    return repeated;
  }

  clear(): void {
    this.dictionary.clear();
    this.indexes.clear();
    this.lastIndex = -1;
  }

  data(rows: number): Buffer[] {
    return this.dictionary.data(rows, this.indexes.bytes());
  }
}

/** Map(String, String): the running count of pairs a row, then all keys, then all values. */
export class TextMapColumn implements RowColumn {
  readonly type = "Map(String, String)";
  private readonly ends = new ByteSink();
  private readonly keys = new ByteSink();
  private readonly values = new ByteSink();
  private pairs = 0;

  /** @param pairs names and values in turn */
  add(pairs: readonly string[]): void {
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      this.keys.writeText(pairs[index] ?? "");
      this.values.writeText(pairs[index + 1] ?? "");
    }
    this.pairs += pairs.length >> 1;
    this.ends.writeUint64(this.pairs);
  }

  clear(): void {
    this.ends.clear();
    this.keys.clear();
    this.values.clear();
    this.pairs = 0;
  }

  data(): Buffer[] {
    return [this.ends.bytes(), this.keys.bytes(), this.values.bytes()];
  }
}

/** One block: number of columns and rows, then each column's name, type and data. */
export function encodeBlock(columns: Readonly<Record<string, Column>>, rows: number): Buffer[] {
  const entries = Object.entries(columns);
  const head = new ByteSink(16);
  head.writeVarUint(entries.length);
  head.writeVarUint(rows);
  return [
    head.bytes(),
    ...entries.flatMap(([name, column]) => [columnHeader(name, column.type), ...column.data(rows)]),
  ];
}

function columnHeader(name: string, type: string): Buffer {
  const sink = new ByteSink(64);
  sink.writeText(name);
  sink.writeText(type);
  return sink.bytes();
}

const KEYS_VERSION = 1;
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEED_UPDATE_DICTIONARY = 1 << 10;
const INDEX_UINT32 = 2;

/**
 * The different texts of a column, in the order of their first row. Layout: ClickHouse,
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

  texts(): string[] {
    return [...this.indexByText.keys()];
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
