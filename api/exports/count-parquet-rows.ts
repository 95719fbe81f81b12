import { parquetMetadata } from "hyparquet";
import type { RowCount } from "./row-count.js";

/** The footer of a file grows with its row groups of a million rows: this is enough for some 2,000 of them. */
const FOOTER_BYTES_MAX = 8 * 1024 * 1024;
/** The footer's length and the mark. */
const END = 8;

/** The rows of a Parquet file are told by its footer. The end of what went by is kept until it is long enough. */
export function countParquetRows(): RowCount {
  let kept: Buffer[] = [];
  let bytes = 0;
  return {
    add(part) {
      kept.push(Buffer.from(part));
      bytes += part.length;
      while (bytes - (kept[0]?.length ?? 0) >= FOOTER_BYTES_MAX) bytes -= kept.shift()?.length ?? 0;
      return 0;
    },
    async finish() {
      const tail = Buffer.concat(kept);
      kept = [];
      const footer = tail.subarray(-(tail.readUInt32LE(tail.length - END) + END));
      const { num_rows: rows } = parquetMetadata(new Uint8Array(footer).buffer);
      return Number(rows);
    },
  };
}
