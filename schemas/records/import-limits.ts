/** Longest line that is imported, in bytes without its line end. */
export const LINE_BYTES_MAX = 1_048_576;
