const SHORT_TEXT_MAX = 48;

/** A growing buffer that columns write into; reused from block to block, so that a block costs no allocation. */
export class ByteSink {
  private buffer: Buffer;
  private view: DataView;
  length = 0;

  constructor(bytes = 4096) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
    this.view = new DataView(this.buffer.buffer);
  }

  clear(): void {
    this.length = 0;
  }

  /** A view: valid until the sink is cleared or written to. */
  bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  writeByte(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  /** Unsigned LEB128, as ClickHouse writes lengths and counts. */
  writeVarUint(value: number): void {
    this.reserve(9);
    while (value >= 0x80) {
      this.buffer[this.length++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.buffer[this.length++] = value;
  }

  /** @throws RangeError for a number that 32 bits do not hold */
  writeUint32(value: number): void {
    if (value >>> 0 !== value) throw new RangeError(`not a 32-bit number: ${value}`);
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** A whole number from 0 to 2^53 as 64 bits. */
  writeUint64(value: number): void {
    const high = Math.floor(value / 0x1_0000_0000);
    this.writeUint32(value - high * 0x1_0000_0000);
    this.writeUint32(high);
  }

  writeFloat32(value: number): void {
    this.reserve(4);
    this.view.setFloat32(this.length, value, true);
    this.length += 4;
  }

  writeBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Length and UTF-8 bytes. Short ASCII, the common case, is copied here: a call into the runtime costs more. */
  writeText(text: string): void {
    const units = text.length;
    this.reserve(units * 3 + 9);
    if (units <= SHORT_TEXT_MAX && this.writeAscii(text)) return;
    const bytes = Buffer.byteLength(text);
    this.writeVarUint(bytes);
    this.length += this.buffer.write(text, this.length, "utf8");
  }

  private writeAscii(text: string): boolean {
    const start = this.length;
    const { buffer } = this;
    buffer[start] = text.length;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return false;
      buffer[start + 1 + index] = unit;
    }
    this.length = start + 1 + text.length;
    return true;
  }

  private reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
    this.view = new DataView(grown.buffer);
  }
}

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

  /** A view: valid until the list is cleared or grows. */
  all(): Uint32Array {
    return this.values.subarray(0, this.length);
  }

  /** The same in the byte order of all machines that ClickHouse runs on. */
  bytes(): Buffer {
    return Buffer.from(this.values.buffer, 0, this.length * Uint32Array.BYTES_PER_ELEMENT);
  }

  private grow(): void {
    const grown = new Uint32Array(this.values.length * 2);
    grown.set(this.values);
    this.values = grown;
  }
}

/** A UUID as ClickHouse stores it: two 64-bit halves, each little-endian. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  if (bytes.length !== 16) throw new RangeError(`not a UUID: ${uuid}`);
  bytes.subarray(0, 8).reverse();
  bytes.subarray(8).reverse();
  return bytes;
}
