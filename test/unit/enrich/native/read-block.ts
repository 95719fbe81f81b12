/** A column as it was read back: numbers of 64 bits as BigInt, fixed bytes as hexadecimal digits. */
export interface ReadColumn {
  name: string;
  type: string;
  values: unknown[];
}

/** Reads one block of ClickHouse's Native format, of the types that events and log entries have. Plain and slow. */
export function readBlock(parts: readonly Buffer[]): { rows: number; columns: ReadColumn[]; rest: number } {
  const source = new Source(Buffer.concat(parts));
  const count = source.varUint();
  const rows = source.varUint();
  const columns = Array.from({ length: count }, () => {
    const name = source.text();
    const type = source.text();
    return { name, type, values: readValues(source, type, rows) };
  });
  return { rows, columns, rest: source.left() };
}

/** The rows of a block as objects. */
export function readRows(parts: readonly Buffer[]): Record<string, unknown>[] {
  const { rows, columns } = readBlock(parts);
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
  );
}

class Source {
  private at = 0;
  constructor(private readonly bytes: Buffer) {}

  take(length: number): Buffer {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  left(): number {
    return this.bytes.length - this.at;
  }

  varUint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.take(1).readUInt8();
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  }

  text(): string {
    return this.take(this.varUint()).toString();
  }

  uint64(): bigint {
    return this.take(8).readBigUInt64LE();
  }
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read);
}

function readValues(source: Source, type: string, rows: number): unknown[] {
  switch (type.replace(/\(.*/, "")) {
    case "UUID":
      return times(rows, () => readUuid(source));
    case "Enum8":
      return times(rows, () => source.take(1).readInt8());
    case "DateTime64":
    case "UInt64":
      return times(rows, () => source.uint64());
    case "Int32":
      return times(rows, () => source.take(4).readInt32LE());
    case "Float32":
      return times(rows, () => source.take(4).readFloatLE());
    case "FixedString":
      return times(rows, () => source.take(16).toString("hex"));
    case "String":
      return times(rows, () => source.text());
    case "LowCardinality":
      return readLowCardinality(source);
    case "Map":
      return readMaps(source, rows);
    default:
      throw new Error(`unexpected type ${type}`);
  }
}

/** The high half comes first, each half with its last byte first. */
function readUuid(source: Source): string {
  const halves = [source.uint64(), source.uint64()];
  const hex = halves.map((half) => half.toString(16).padStart(16, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function readLowCardinality(source: Source): string[] {
  const [version, flags] = [source.uint64(), source.uint64()];
  // Version 1; indexes of 32 bits (2), additional keys (bit 9), a dictionary to update (bit 10).
  if (version !== 1n || flags !== 0x602n) throw new Error(`unexpected LowCardinality ${version} ${flags}`);
  const keys = times(Number(source.uint64()), () => source.text());
  return times(Number(source.uint64()), () => keys[source.take(4).readUInt32LE()] ?? "not in the dictionary");
}

function readMaps(source: Source, rows: number): [string, string][][] {
  const ends = times(rows, () => Number(source.uint64()));
  const total = ends.at(-1) ?? 0;
  const keys = times(total, () => source.text());
  const values = times(total, () => source.text());
  const pairs = keys.map((key, index): [string, string] => [key, values[index] ?? ""]);
  return ends.map((end, row) => pairs.slice(ends[row - 1] ?? 0, end));
}
