/** An entry's size in bytes. An estimate is enough: it bounds the memory of a cache, whatever is asked for. */
export type SizeOf<Key, Value> = (key: Key, value: Value) => number;

/**
 * When the young generation is full, it becomes the old one, which is dropped whole. A hit makes an old entry
 * young again: one lookup in a Map, where the linked list of an LRU cache took three times as long.
 */
export class GenerationCache<Key, Value extends object | string> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();
  private youngBytes = 0;
  private oldBytes = 0;

  /** @param bytesMax of both generations together */
  constructor(
    private readonly bytesMax: number,
    private readonly sizeOf: SizeOf<Key, Value>,
  ) {}

  get bytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  get(key: Key): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    const bytes = this.sizeOf(key, value);
    if (this.youngBytes + bytes > this.bytesMax / 2) {
      this.old = this.young;
      this.oldBytes = this.youngBytes;
      this.young = new Map();
      this.youngBytes = 0;
    }
    this.young.set(key, value);
    this.youngBytes += bytes;
  }
}

const TEXT_BYTES_MAX = 8 * 1024 * 1024;
/** Longer texts are read anew each time: few, and none that many lines share. */
const TEXT_LENGTH_MAX = 1024;
/** The size of a Map's entry and the heads of two strings. */
const TEXT_ENTRY_BYTES = 120;

/**
 * The same few addresses and user agents come again and again: equal answers are one string, which lookups
 * compare and hash once. Takes 8 MiB at most.
 */
export function rememberTexts(read: (text: string) => string): (text: string) => string {
  const known = new GenerationCache<string, string>(TEXT_BYTES_MAX, sizeOfText);
  return (text) => {
    if (text.length > TEXT_LENGTH_MAX) return read(text);
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = read(text)));
    return value;
  };
}

/** Two bytes a character, of the text as it was sent and of its answer. */
function sizeOfText(text: string, value: string): number {
  return TEXT_ENTRY_BYTES + 2 * (text.length + value.length);
}
