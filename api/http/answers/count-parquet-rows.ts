import { parquetMetadata } from "hyparquet";
import type { RowCount } from "./row-count.js";

/** The footer of a file grows with its row groups of a million rows. This is enough for about 2,000 of them. */
const FOOTER_BYTES_MAX = 8 * 1024 * 1024;
/** The footer's length and the marker. */
const END = 8;

/**
 * Reads the number of rows from the footer of a Parquet file. Buffers only the end of the stream, as much as a footer
 * may have.
 */
export function countParquetRows(): RowCount {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    add(part) {
      parts.push(Buffer.from(part));
      bytes += part.length;
      while (bytes - (parts[0]?.length ?? 0) >= FOOTER_BYTES_MAX) bytes -= parts.shift()?.length ?? 0;
      return 0;
    },
    async finish() {
      const tail = Buffer.concat(parts);
      parts = [];
      const footer = tail.subarray(-(tail.readUInt32LE(tail.length - END) + END));
      const { num_rows: rows } = parquetMetadata(new Uint8Array(footer).buffer);
      return Number(rows);
    },
  };
}
