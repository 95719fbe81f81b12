/** A growing list of numbers of 32 bits; reused from block to block. */
export class Uint32List {
  values = new Uint32Array(1024);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow();
    this.values[this.length++] = value;
  }

  /** A view, in the byte order of all machines that ClickHouse runs on: valid until the list is cleared or grows. */
  bytes(): Buffer {
    return Buffer.from(this.values.buffer, 0, this.length * Uint32Array.BYTES_PER_ELEMENT);
  }

  private grow(): void {
    const grown = new Uint32Array(this.values.length * 2);
    grown.set(this.values);
    this.values = grown;
  }
}
