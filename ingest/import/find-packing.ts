export type Packing = "gzip" | "zstd" | "zip" | "bzip2" | "xz";

/** How packed files begin. Sources: RFC 1952, RFC 8878, section 4.3.7 of APPNOTE.TXT, the formats of bzip2 and xz. */
const SIGNATURES: readonly [hex: string, packing: Packing][] = [
  ["1f8b", "gzip"],
  ["28b52ffd", "zstd"],
  ["504b0304", "zip"],
  ["425a68", "bzip2"],
  ["fd377a585a00", "xz"],
];

/** As many bytes as the longest signature. */
const SIGNATURE_BYTES = 6;

/** How a body or a file is packed, by its first bytes. Undefined for text, and for Brotli, which has no signature. */
export function findPacking(head: Buffer): Packing | undefined {
  const hex = head.subarray(0, SIGNATURE_BYTES).toString("hex");
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1];
}
