/** A UUID as ClickHouse stores it: two 64-bit halves, each little-endian. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  if (bytes.length !== 16) throw new RangeError(`not a UUID: ${uuid}`);
  bytes.subarray(0, 8).reverse();
  bytes.subarray(8).reverse();
  return bytes;
}
