/** A count that all threads of a process share. */
export class SharedCount {
  private readonly cells: Int32Array;

  constructor(readonly memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.cells = new Int32Array(memory);
  }

  get value(): number {
    return Atomics.load(this.cells, 0);
  }

  add(change: number): void {
    Atomics.add(this.cells, 0, change);
  }
}
