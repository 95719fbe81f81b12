/** The keys and values of a line as they were sent. */
export type LineObject = Record<string, unknown>;
