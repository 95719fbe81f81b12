import { createRequire } from "node:module";
import { isatty } from "node:tty";
import { pino, type DestinationStream, type Logger } from "pino";
import type * as pinoPretty from "pino-pretty";
import { shortLine } from "./short-line.js";

export interface LogOptions {
  level: LogLevel;
  /** Lines for a person instead of JSON. Default: whether standard error is a terminal. */
  pretty?: boolean;
  /** Receives the lines instead of standard error. */
  destination?: DestinationStream;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Creates the program's logger: JSON lines on standard error. Writes each line synchronously, so that an exit loses
 * none. Replaces secrets with `***`, in fields and in messages.
 */
export function createLog({ level, pretty = isatty(2), destination }: LogOptions): Logger {
  const to = destination ?? pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS, censor: MASK },
      hooks: { streamWrite: maskSecrets },
    },
    pretty ? readable(to) : to,
  );
}

/** For a terminal. Formats each line synchronously: a stream in between could lose the last lines at an exit. */
function readable(to: DestinationStream): DestinationStream {
  // Loaded here, because each thread of a service that logs JSON would take 40 ms for it.
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof pinoPretty;
  const format = prettyFactory({ translateTime: "SYS:HH:MM:ss", colorize: true });
  return { write: (line) => to.write(shortLine(line) ?? format(line)) };
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
