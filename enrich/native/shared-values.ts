import { ByteSink, Uint32List } from "./byte-sink.js";
import { type Column, Dictionary } from "./columns.js";

/**
 * Objects that many rows share, such as places. A row costs one number; the columns' values are computed once
 * an object, when the block is encoded. Equal objects give the same bytes.
 */
export class SharedValues<T extends object> {
  private readonly indexByValue = new Map<T, number>();
  private readonly indexes = new Uint32List();
  private last: T | undefined;
  private lastIndex = 0;

  add(value: T): void {
    if (value !== this.last) {
      this.lastIndex = this.indexOf(value);
      this.last = value;
    }
    this.indexes.push(this.lastIndex);
  }

  clear(): void {
    this.indexByValue.clear();
    this.indexes.clear();
    this.last = undefined;
  }

  texts(textOf: (value: T) => string): Column {
    return {
      type: "LowCardinality(String)",
      data: (rows) => {
        const dictionary = new Dictionary();
        const byValue = Uint32Array.from(this.values(), (value) => dictionary.indexOf(textOf(value)));
        return dictionary.data(rows, this.repeat(byValue));
      },
    };
  }

  /** A column of values of one size: a byte, or a multiple of four. */
  fixed(type: string, write: (sink: ByteSink, value: T) => void): Column {
    return {
      type,
      data: () => {
        const sink = new ByteSink();
        for (const value of this.values()) write(sink, value);
        const { buffer } = Uint8Array.from(sink.bytes());
        const isOfWords = buffer.byteLength !== this.indexByValue.size;
        return [this.repeat(isOfWords ? new Uint32Array(buffer) : new Uint8Array(buffer))];
      },
    };
  }

  private values(): Iterable<T> {
    return this.indexByValue.keys();
  }

  private indexOf(value: T): number {
    const known = this.indexByValue.get(value);
    if (known !== undefined) return known;
    const index = this.indexByValue.size;
    this.indexByValue.set(value, index);
    return index;
  }

  /** The part of `parts` that belongs to its value, for each row. */
  private repeat(parts: Uint32Array | Uint8Array): Buffer {
    const { values: indexes, length: rows } = this.indexes;
    const width = parts.length / Math.max(1, this.indexByValue.size);
    const repeated =
      parts instanceof Uint32Array ? new Uint32Array(rows * width) : new Uint8Array(rows * width);
    for (let row = 0, to = 0; row < rows; row++) {
      const from = indexes[row]! * width;
      for (let at = from; at < from + width; at++) repeated[to++] = parts[at]!;
    }
    return Buffer.from(repeated.buffer);
  }
}
