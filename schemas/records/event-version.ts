/** A version of an event is (receipt of its chunk in ms) times this, plus its line in the chunk: later receipts win. */
export const LINES_IN_CHUNK = 2 ** 20;

/** The least version in a chunk received at `receiptStamp`, in ms. Text, because it exceeds 2^53. */
export function leastVersion(receiptStamp: number | bigint): string {
  return (BigInt(receiptStamp) * BigInt(LINES_IN_CHUNK)).toString();
}
