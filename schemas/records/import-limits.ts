/** Longest line that is imported, in bytes without its line end. */
export const LINE_BYTES_MAX = 1_048_576;

/** Longest `$version`, `$type` and `$domain`: a line with a longer one is refused. */
export const NAME_BYTES_MAX = 256;

/** User agents and referrers are cut to this length. */
export const HEADER_BYTES_MAX = 2048;

/** The most custom variables of an event; the rest is left out. */
export const VARIABLES_MAX = 64;

/** A variable with a longer name or value is left out. */
export const VARIABLE_BYTES_MAX = 1024;
