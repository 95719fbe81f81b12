import { count, numbered } from "../../schemas/records/numbered.js";
import { createRequire } from "node:module";
import { isatty } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { type DestinationStream, type Logger, pino } from "pino";
import type * as pinoPretty from "pino-pretty";
import type { FinishedImport } from "../../schemas/records/settlement.js";

interface LogOptions {
  level: LogLevel;
  /** Lines for a person instead of JSON. Default: whether standard error is a terminal. */
  pretty?: boolean;
  destination?: DestinationStream;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Writes each line synchronously, so that an exit loses none. Replaces secrets with `***`, in fields and
 * messages.
 */
export function createLog({ level, pretty = isatty(2), destination }: LogOptions): Logger {
  const to = destination ?? pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: Error) => inner(pino.stdSerializers.err(error)) },
      redact: { paths: SECRET_FIELDS, censor: MASK },
      hooks: { streamWrite: maskSecrets },
    },
    pretty ? readable(to) : to,
  );
}

function readable(to: DestinationStream): DestinationStream {
  // Loaded here, because each thread of a service that logs JSON would take 40 ms for it.
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof pinoPretty;
  const format = prettyFactory({ translateTime: "SYS:HH:MM:ss", colorize: true });
  return { write: (line) => to.write(shortLine(line) ?? format(line)) };
}

/** Every DOMException, such as that of a time limit, has all the codes that there are as properties. */
const CONSTANTS = new Set(Object.keys(DOMException));

/** Of an error as it is logged, and of those in it. */
function withoutConstants(error: object): object {
  if (!("stack" in error)) return error;
  const fields = Object.entries(error as Record<string, unknown>).filter(([name]) => !CONSTANTS.has(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, inner(value)]));
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner);
  return typeof value === "object" && value !== null ? withoutConstants(value) : value;
}

const MASK = "***";

/** `rawPacket` holds, in errors of HTTP parsers, all bytes of a request with its headers. */
const SECRET_NAMES = ["authorization", "cookie", "token", "password", "secret", "secretKey", "rawPacket"];
const SECRET_FIELDS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.headers.${name}`]);

/** API tokens, sessions, sign-in links, webhook secrets and passwords in URLs also occur in messages and stack traces. */
function maskSecrets(line: string): string {
  return line
    .replace(/\b(mt[kls]_|whsec_)[A-Za-z0-9+/_=-]+/g, `$1${MASK}`)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*:)[^\s/@"]+@/gi, `$1${MASK}@`);
}

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
 * For a person: `03:51:15 GET /v1/user 200 21 ms ada`. Undefined for any but the lines of requests and ends
 * of imports.
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
  const broken = complete === false ? ["cut off"] : [];
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
  const counts = `${numbered(events, "event")} imported, ${numbered(failed, "line")} rejected`;
  return `import done: ${counts}, ${count(seconds)} s, ${numbered(eventsPerSecond, "event")}/s (${owner}, ${importId})`;
}

/** The time of day in this machine's time zone. */
function clock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

const red = (text: number) => `\u001b[31m${text}\u001b[39m`;
const yellow = (text: number) => `\u001b[33m${text}\u001b[39m`;

export const IMPORT_DONE = "import done";

/** Its fields. The seconds count from the start of the request, with its upload. */
interface ImportDoneFields {
  importId: string;
  owner: string;
  events: number;
  failed: number;
  seconds: number;
  eventsPerSecond: number;
}

export function importDoneFields({
  id,
  owner,
  eventsImported,
  eventsFailed,
  seconds,
}: FinishedImport): ImportDoneFields {
  const perSecond = eventsImported / Math.max(seconds, 0.001);
  return {
    importId: id,
    owner,
    events: eventsImported,
    failed: eventsFailed,
    seconds: Math.round(seconds * 100) / 100,
    eventsPerSecond: Math.round(perSecond),
  };
}
