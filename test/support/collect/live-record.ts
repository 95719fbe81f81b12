import { randomUUID } from "node:crypto";
import { NIL_UUID } from "../../../schemas/formats.js";
import { NDJSON } from "../../../schemas/records/import-format.js";
import { encodeRawChunk, type RawChunk } from "../../../schemas/records/raw-chunk.js";

/** A record of the log with one live event, as a collector makes it. */
export function liveRecord(line: string, over: Partial<RawChunk> & Pick<RawChunk, "receiptStamp">): Buffer {
  return encodeRawChunk({
    source: "collect",
    ownerId: NIL_UUID,
    accountId: "",
    artifactKind: "any",
    artifactId: "",
    importId: randomUUID(),
    sequence: 0,
    firstLine: 1,
    ...NDJSON,
    codec: "none",
    lines: Buffer.from(`${line}\n`),
    ...over,
  });
}
