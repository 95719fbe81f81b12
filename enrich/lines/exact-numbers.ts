import { randomUUID } from "node:crypto";

/** A key that no line can have, since nobody knows it. */
const MARK = randomUUID();
const MARKED = new RegExp(String.raw`\{"${MARK}":"([^"]+)"\}`, "g");

/** Whether a number of a line with this text may not be what was sent. False costs little: most lines have such numbers. */
export function mayRound(
  { $time: time, $unique_id: id, otherNames, otherValues }: Numbered,
  json: string,
): boolean {
  if (typeof id === "number" && !Number.isSafeInteger(id)) return true;
  if (typeof time === "number" && !isShort(json, TIME_KEY)) return true;
  return otherValues.some((value, index) =>
    typeof value === "number"
      ? !hasMember(json, `"${otherNames[index]}":`, String(value))
      : typeof value === "object" && value !== null,
  );
}

interface Numbered {
  $time: unknown;
  $unique_id: unknown;
  otherNames: readonly string[];
  otherValues: readonly unknown[];
}

const TIME_KEY = '"$time":';
/** So many digits, with a point among them, are exact in every number. */
const EXACT_LENGTH = 15;

/** Whether a number behind a key, with one space before it or none, is too short to be rounded. */
function isShort(json: string, key: string): boolean {
  const at = json.indexOf(key) + key.length;
  const from = json[at] === " " ? at + 1 : at;
  let to = from;
  while (to - from <= EXACT_LENGTH && isOfNumber(json.charCodeAt(to))) to++;
  return to - from <= EXACT_LENGTH && (json[to] === "," || json[to] === "}");
}

function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** Whether the text has a number as JavaScript writes it, with one space before it or none. */
function hasMember(json: string, key: string, number: string): boolean {
  const at = json.indexOf(key) + key.length;
  const from = json[at] === " " ? at + 1 : at;
  const next = json[from + number.length];
  return json.startsWith(number, from) && (next === "," || next === "}");
}

/** `-0`, `0.10`, `0.0000001`, `1234567890123456789` and `1e400`. Some too many: `markNumber` compares each. */
const INEXACT = String.raw`(?:-0|-?\d+\.(?:0{6}\d*|\d*0)|-?[\d.]{16,}|-?[\d.]+[eE][-+\d]+)`;
/** Between what stands around a number: user agents have `NT 10.0;`. */
const MAY_HAVE = new RegExp(String.raw`[:,[\s]${INEXACT}\s*[,}\]]`);
const STRING_OR_NUMBER = new RegExp(
  String.raw`"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])${INEXACT}(?![\d.eE+-])`,
  "g",
);

/**
 * JSON in which each number that JavaScript would write in another way is an object, for `numberText`; undefined where
 * there is none. `JSON.parse` of Node 20 does not give the text of a number.
 * @param json a text that JSON.parse takes
 */
export function markNumbers(json: string): string | undefined {
  return MAY_HAVE.test(json) ? json.replace(STRING_OR_NUMBER, markNumber) : undefined;
}

function markNumber(token: string): string {
  return token[0] === '"' || String(Number(token)) === token ? token : `{"${MARK}":"${token}"}`;
}

/** A number as it was sent, if it is one that JavaScript would write in another way. */
export function numberText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null
    ? (value as Partial<Record<string, string>>)[MARK]
    : undefined;
}

/** `JSON.stringify`, with numbers as they were sent. Throws for what is nested deeper than the stack. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(MARKED, "$1");
}
