import { openComposer } from "./compose-line.js";
import type { EventMix } from "./event-mix.js";

/** The lines of an NDJSON body, without line ends; now and then a blank one, which `count` leaves out. */
export function* generateLines(mix: EventMix): Generator<string> {
  const compose = openComposer(mix);
  const first = mix.startAt ?? 0;
  for (let index = first; index < first + mix.count; index += 1) {
    yield compose(index);
    if (index % 500 === 250) yield index % 1000 === 250 ? "" : " \t";
  }
}

/** The same as a body: blocks of about 64 KiB, cut anywhere, `\n` after every line and now and then `\r\n`. */
export function* generateBody(mix: EventMix): Generator<Buffer> {
  let held = "";
  for (const line of generateLines(mix)) {
    held += line;
    if (held.length < BLOCK_CHARACTERS) {
      held += "\n";
      continue;
    }
    yield Buffer.from(`${held}\r\n`);
    held = "";
  }
  if (held.length > 0) yield Buffer.from(held);
}

const BLOCK_CHARACTERS = 64 * 1024;
