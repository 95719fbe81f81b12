import { GenerationCache } from "./generation-cache.js";

const BYTES_MAX = 8 * 1024 * 1024;
/** Longer texts are read anew each time: few, and none that many lines share. */
const LENGTH_MAX = 1024;
/** The size of a Map's entry and the heads of two strings. */
const ENTRY_BYTES = 120;

/**
 * Remembers what a text of a line becomes. The same few addresses and user agents come again and again, and equal
 * answers are one string: the lookups that follow compare and hash it once. Takes 8 MiB at most.
 */
export function rememberTexts(read: (text: string) => string): (text: string) => string {
  const known = new GenerationCache<string, string>(BYTES_MAX, sizeOf);
  return (text) => {
    if (text.length > LENGTH_MAX) return read(text);
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = read(text)));
    return value;
  };
}

/** Two bytes a character, of the text as it was sent and of its answer. */
function sizeOf(text: string, value: string): number {
  return ENTRY_BYTES + 2 * (text.length + value.length);
}
