import type { ExportFormat } from "../../../../schemas/contracts/aggregate.js";

/** Counts the rows of an answer while it is sent. */
export interface RowCount {
  /** How many rows end in this part, as far as is known. Does not retain the part. */
  add(part: Buffer): number;
  /** How many more rows became known at the end. */
  finish(): Promise<number>;
}

export function countRows(format: ExportFormat): RowCount {
  if (format === "arrow") return countArrowRows();
  if (format === "parquet") return countParquetRows();
  return lineCount(format === "csv" ? 1 : 0);
}

/** The texts of rows contain no line breaks: ingestion replaced them. */
function lineCount(headers: number): RowCount {
  let before = headers;
  return {
    add(part) {
      const lines = countLines(part);
      const skipped = Math.min(before, lines);
      before -= skipped;
      return lines - skipped;
    },
    finish: async () => 0,
  };
}

/** The native search reaches 5,900 MB/s on lines of 100 bytes; a loop over the bytes reaches 80 to 170. */
function countLines(part: Buffer): number {
  let lines = 0;
  for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

const NEWLINE = 0x0a;

/**
 * Counts the rows of the record batches in a stream of Arrow messages, and skips everything else. A message is a
 * marker, the length of its metadata, the metadata (a flatbuffer) and a body. Source: the columnar format of Apache
 * Arrow, "Encapsulated message format", and its Message.fbs.
 */
function countArrowRows(): RowCount {
  let held = Buffer.alloc(0);
  let skip = 0;
  return {
    add(part) {
      let rows = 0;
      let bytes: Buffer = held.length === 0 ? part : Buffer.concat([held, part]);
      for (;;) {
        const skipped = Math.min(skip, bytes.length);
        skip -= skipped;
        bytes = bytes.subarray(skipped);
        const end = skip > 0 || bytes.length < PREFIX ? Infinity : PREFIX + bytes.readInt32LE(MARK);
        if (bytes.length < end) break;
        const message = readMessage(bytes.subarray(PREFIX, end));
        rows += message.rows;
        skip = message.bodyBytes;
        bytes = bytes.subarray(end);
      }
      held = Buffer.from(bytes);
      return rows;
    },
    finish: async () => 0,
  };
}

const MARK = 4;
const PREFIX = 8;

const RECORD_BATCH = 3;

/** Fields of Message: version, header_type, header, bodyLength. The first field of RecordBatch is its length. */
function readMessage(metadata: Buffer): { rows: number; bodyBytes: number } {
  if (metadata.length === 0) return { rows: 0, bodyBytes: 0 };
  const message = metadata.readInt32LE(0);
  const type = fieldAt(metadata, message, 1);
  const header = fieldAt(metadata, message, 2);
  const bodyLength = fieldAt(metadata, message, 3);
  const bodyBytes = bodyLength === undefined ? 0 : Number(metadata.readBigInt64LE(bodyLength));
  const isBatch = type !== undefined && header !== undefined && metadata[type] === RECORD_BATCH;
  const batch = isBatch ? header + metadata.readInt32LE(header) : undefined;
  const length = batch === undefined ? undefined : fieldAt(metadata, batch, 0);
  return { rows: length === undefined ? 0 : Number(metadata.readBigInt64LE(length)), bodyBytes };
}

/** The position of a field in a flatbuffer's table; undefined if the field has its default. */
function fieldAt(bytes: Buffer, table: number, field: number): number | undefined {
  const vtable = table - bytes.readInt32LE(table);
  const entry = 4 + 2 * field;
  if (entry >= bytes.readUInt16LE(vtable)) return undefined;
  const offset = bytes.readUInt16LE(vtable + entry);
  return offset === 0 ? undefined : table + offset;
}

/** The footer of a file grows with its row groups of a million rows. This is enough for about 2,000 of them. */
const FOOTER_BYTES_MAX = 8 * 1024 * 1024;
const END = 8;

/** Buffers only the end of the stream, as much as a footer may have. */
function countParquetRows(): RowCount {
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
      // Loaded for the first such answer: a start need not wait for it.
      const { parquetMetadata } = await import("hyparquet");
      const { num_rows: rows } = parquetMetadata(new Uint8Array(footer).buffer);
      return Number(rows);
    },
  };
}
