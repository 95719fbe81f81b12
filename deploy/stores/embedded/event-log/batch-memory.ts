/** The memory of a consumer's records: one piece, used by one batch after the other instead of becoming garbage each time. */
export class BatchMemory {
  private bytes = new Uint8Array(0);

  /** At least that much; what it held before is overwritten. */
  reserve(size: number): Uint8Array {
    if (size > this.bytes.length) this.bytes = new Uint8Array(Math.max(size, 2 * this.bytes.length));
    return this.bytes;
  }

  release(): void {
    if (this.bytes.length > 0) this.bytes = new Uint8Array(0);
  }
}
