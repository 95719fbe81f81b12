/** Counts the rows of an answer as it goes by. */
export interface RowCount {
  /** How many rows end in this part, as far as it tells. The part is not kept. */
  add(part: Buffer): number;
  /** How many more the end told of. */
  finish(): Promise<number>;
}
