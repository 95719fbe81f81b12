/** How the lines of a chunk are compressed, in the order of the symbols in raw-chunk.avsc. */
export const CODECS = ["none", "lz4", "brotli"] as const;
export type Codec = (typeof CODECS)[number];
