import { stripVTControlCharacters } from "node:util";
import { IMPORT_DONE, type ImportDoneFields } from "./import-done.js";

/** Fields of the access log. */
interface RequestFields {
  method: string;
  path: string;
  status: number;
  ms: number;
  account?: string;
  /** False where the connection broke before the end of the answer. */
  complete?: boolean;
}

/**
 * A log line of a request, or of the end of an import, for a person: `03:51:15 GET /v1/user 200 21 ms ada`. Undefined for
 * any other line.
 */
export function shortLine(line: string): string | undefined {
  // Most lines are no JSON of ours: a cheap look first.
  if (!line.includes('"msg":"request"') && !line.includes(`"msg":"${IMPORT_DONE}"`)) return undefined;
  const fields = JSON.parse(line) as { msg: string; time: string };
  const text = textOf(fields);
  return text && `${clock(fields.time)} ${text}\n`;
}

function textOf(fields: { msg: string }): string | undefined {
  if (fields.msg === "request") return requestText(fields as unknown as RequestFields);
  return fields.msg === IMPORT_DONE ? doneText(fields as unknown as ImportDoneFields) : undefined;
}

function requestText({ method, path, status, ms, account, complete }: RequestFields): string {
  const broken = complete === false ? ["broke off"] : [];
  const coloured = status >= 500 ? red(status) : status >= 400 ? yellow(status) : String(status);
  // A path may have anything that a caller sends, also what moves the cursor of a terminal.
  const shown = stripVTControlCharacters(path);
  return [
    method,
    shown,
    coloured,
    `${count(ms)} ms`,
    ...(account === undefined ? [] : [account]),
    ...broken,
  ].join(" ");
}

function doneText({ importId, owner, events, failed, seconds, eventsPerSecond }: ImportDoneFields): string {
  const counts = `${count(events)} events imported, ${count(failed)} lines refused`;
  return `import done: ${counts}, ${count(seconds)} s, ${count(eventsPerSecond)} events/s (${owner}, ${importId})`;
}

/** The time of day in this machine's time zone. */
function clock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

const red = (text: number) => `\u001b[31m${text}\u001b[39m`;
const yellow = (text: number) => `\u001b[33m${text}\u001b[39m`;
