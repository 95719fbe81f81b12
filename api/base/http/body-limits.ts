import { formatBytes } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";

/** What one request may send. Checked before the body is parsed, which costs far more than to read it. */
export interface BodyLimits {
  bytesMax: number;
  /** Of JSON: its objects, lists and what they hold, at every depth. Of a form: its fields. */
  valuesMax: number;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** Of an operation or a page that declares no others: enough for the longest URL twice, each letter of it escaped. */
export const BODY_LIMITS: BodyLimits = { bytesMax: 32 * KIB, valuesMax: 200 };

/** Of a page's form, which is read for a session alone: it is shown again with what was typed, so it may be too long. */
export const FORM_LIMITS: BodyLimits = { bytesMax: MIB / 4, valuesMax: 200 };

/** `32 KiB and 200 values`: for people. */
export function limitsOf({ bytesMax, valuesMax }: BodyLimits): string {
  return `${formatBytes(bytesMax)} and ${valuesMax.toLocaleString("en")} values`;
}

/** A message of the protocol of assistants, a record of people: no body is nested deeper. */
const DEPTH_MAX = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Takes linear time, and none of the memory that parsing takes. Throws `invalid-body`. */
export function requireFewValues(json: Uint8Array, { valuesMax }: Pick<BodyLimits, "valuesMax">): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfText(json, at);
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (values > valuesMax) throw tooMany(valuesMax, "values");
    if (depth > DEPTH_MAX) throw invalid(`is nested more than ${DEPTH_MAX} levels deep`);
  }
}

function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Of a form, whose fields are divided by `separator`. Throws `invalid-body`. */
export function requireFewFields(
  form: Buffer,
  { valuesMax, separator }: Pick<BodyLimits, "valuesMax"> & { separator: string },
): void {
  let fields = 0;
  for (let at = form.indexOf(separator); at >= 0; at = form.indexOf(separator, at + separator.length)) {
    fields += 1;
    if (fields >= valuesMax) throw tooMany(valuesMax, "fields");
  }
}

function tooMany(valuesMax: number, noun: string): Problem {
  return invalid(`has more than ${valuesMax} ${noun}`);
}

function invalid(fault: string): Problem {
  return new Problem("invalid-body", `The body ${fault}.`);
}
