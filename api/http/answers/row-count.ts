/** Counts the rows of an answer while it is sent. */
export interface RowCount {
  /** How many rows end in this part, as far as is known. Does not retain the part. */
  add(part: Buffer): number;
  /** How many more rows became known at the end. */
  finish(): Promise<number>;
}
