import { ByteSink } from "./byte-sink.js";
import { uuidBytes } from "./uuid-bytes.js";

/** A column of a block in ClickHouse's Native format: a name and type in the header, then `data()`. */
export interface Column {
  readonly type: string;
  clear(): void;
  /** The column's bytes after its header; `rows` is the number of values added since `clear`. */
  data(rows: number): Buffer[];
}

/** Values of a fixed number of bytes, one after the other. */
export class FixedColumn implements Column {
  readonly sink = new ByteSink();
  constructor(readonly type: string) {}

  clear(): void {
    this.sink.clear();
  }

  data(): Buffer[] {
    return [this.sink.bytes()];
  }
}

/** Few different UUIDs in many rows. */
export class UuidColumn implements Column {
  readonly type = "UUID";
  private readonly sink = new ByteSink();
  private readonly bytesByUuid = new Map<string, Buffer>();

  add(uuid: string): void {
    let bytes = this.bytesByUuid.get(uuid);
    if (bytes === undefined) this.bytesByUuid.set(uuid, (bytes = uuidBytes(uuid)));
    this.sink.writeBytes(bytes);
  }

  clear(): void {
    this.sink.clear();
    this.bytesByUuid.clear();
  }

  data(): Buffer[] {
    return [this.sink.bytes()];
  }
}

export class TextColumn implements Column {
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

const KEYS_VERSION = 1;
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEED_UPDATE_DICTIONARY = 1 << 10;
const INDEX_UINT32 = 2;

/**
 * Repeated texts as a dictionary of the block and an index a row. Source of the layout: ClickHouse,
 * SerializationLowCardinality (keys version; index type and flags; keys; rows; indexes).
 */
export class LowCardinalityColumn implements Column {
  readonly type = "LowCardinality(String)";
  private readonly indexByText = new Map<string, number>();
  private readonly keys = new ByteSink();
  private readonly indexes = new ByteSink();
  private lastText = "";
  private lastIndex = -1;

  add(text: string): void {
    if (text !== this.lastText || this.lastIndex < 0) {
      this.lastIndex = this.indexOf(text);
      this.lastText = text;
    }
    this.indexes.writeUint32(this.lastIndex);
  }

  clear(): void {
    this.indexByText.clear();
    this.keys.clear();
    this.indexes.clear();
    this.lastIndex = -1;
  }

  data(rows: number): Buffer[] {
    const head = new ByteSink(32);
    head.writeUint64(KEYS_VERSION);
    head.writeUint64(INDEX_UINT32 | HAS_ADDITIONAL_KEYS | NEED_UPDATE_DICTIONARY);
    head.writeUint64(this.indexByText.size);
    const middle = new ByteSink(8);
    middle.writeUint64(rows);
    return [head.bytes(), this.keys.bytes(), middle.bytes(), this.indexes.bytes()];
  }

  private indexOf(text: string): number {
    const known = this.indexByText.get(text);
    if (known !== undefined) return known;
    const index = this.indexByText.size;
    this.indexByText.set(text, index);
    this.keys.writeText(text);
    return index;
  }
}

/** Map(String, String): the running count of pairs a row, then all keys, then all values. */
export class TextMapColumn implements Column {
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
