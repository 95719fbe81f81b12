/** A line on standard output: the record as JSON, or words about it. */
export function printRecord<Of extends object>(
  record: Of,
  json: true | undefined,
  words: (record: Of) => string,
): void {
  process.stdout.write(`${json ? JSON.stringify(record) : words(record)}\n`);
}
