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

  /** A copy, in the byte order of all machines that ClickHouse runs on. */
  bytes(): Buffer {
    return Buffer.from(this.values.slice(0, this.length).buffer);
  }

  private grow(): void {
    const grown = new Uint32Array(this.values.length * 2);
    grown.set(this.values);
    this.values = grown;
  }
}
