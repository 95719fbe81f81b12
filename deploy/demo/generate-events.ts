import { openComposer } from "./compose-line.js";
import type { EventMix } from "./event-mix.js";

/** The lines of an NDJSON body without newlines. Some are blank, which `count` does not include. */
export function* generateLines(mix: EventMix): Generator<string> {
  const compose = openComposer(mix);
  const first = mix.startAt ?? 0;
  for (let index = first; index < first + mix.count; index += 1) {
    yield compose(index);
    if (index % 500 === 250) yield index % 1000 === 250 ? "" : " \t";
  }
}

/** The same lines as a body in blocks of about 64 KiB. Lines end with `\n`, some with `\r\n`. */
export function* generateBody(mix: EventMix): Generator<Buffer> {
  let block = "";
  for (const line of generateLines(mix)) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) {
      block += "\n";
      continue;
    }
    yield Buffer.from(`${block}\r\n`);
    block = "";
  }
  if (block.length > 0) yield Buffer.from(block);
}

const BLOCK_CHARACTERS = 64 * 1024;
