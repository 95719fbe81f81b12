import type { KafkaMessage } from "kafkajs";
import type { ConsumeOptions } from "../../../schemas/records/event-log.js";
import { countWithinBytes } from "../count-within-bytes.js";
import type { Position } from "./event-log-position.js";

/** How many of the messages are the next batch; undefined when a recorded range has to be waited for. */
export function countOfNextBatch(
  messages: readonly KafkaMessage[],
  { range, options }: { range: Position["range"]; options: ConsumeOptions },
): number | undefined {
  if (range !== undefined) {
    const end = messages.findIndex(({ offset }) => Number(offset) >= range.last);
    return end < 0 ? undefined : end + 1;
  }
  return countWithinBytes(messages, { bytesMax: bytesMaxOf(options), sizeOf: options.sizeOf });
}

function bytesMaxOf({ batchBytesMax }: ConsumeOptions): number {
  return typeof batchBytesMax === "number" ? batchBytesMax : batchBytesMax();
}
