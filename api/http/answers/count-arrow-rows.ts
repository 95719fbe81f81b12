import type { RowCount } from "./row-count.js";

/**
 * Counts the rows of the record batches in a stream of Arrow messages, and skips everything else. A message is a
 * marker, the length of its metadata, the metadata (a flatbuffer) and a body. Source: the columnar format of Apache
 * Arrow, "Encapsulated message format", and its Message.fbs.
 */
export function countArrowRows(): RowCount {
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
/** The marker and the length. */
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
