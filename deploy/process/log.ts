import { isatty } from "node:tty";
import { pino, type DestinationStream, type Logger } from "pino";
import { prettyFactory } from "pino-pretty";

export interface LogOptions {
  level: LogLevel;
  /** Lines for a person instead of JSON; by default when standard error is a terminal. */
  pretty?: boolean;
  /** Where lines go instead of standard error. */
  destination?: DestinationStream;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The program's one logger: JSON lines on standard error, written at once so that the last line before an
 * exit is never lost. Secrets are blotted out whatever field or message they come in.
 */
export function createLog({ level, pretty = isatty(2), destination }: LogOptions): Logger {
  const to = destination ?? pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS, censor: BLOT },
      hooks: { streamWrite: blotSecrets },
    },
    pretty ? readable(to) : to,
  );
}

/** Formats each line as it is written: no stream in between that could still hold the last ones at an exit. */
function readable(to: DestinationStream): DestinationStream {
  const format = prettyFactory({ translateTime: "SYS:HH:MM:ss.l", colorize: true });
  return { write: (line) => to.write(format(line)) };
}

const BLOT = "***";

const SECRET_NAMES = ["authorization", "cookie", "token", "password", "secret", "secretKey"];
const SECRET_FIELDS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.headers.${name}`]);

/** API tokens, webhook secrets and the passwords of URLs also travel inside messages and stack traces. */
function blotSecrets(line: string): string {
  return line
    .replace(/\b(mtk_|whsec_)[A-Za-z0-9+/_=-]+/g, `$1${BLOT}`)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*:)[^\s/@"]+@/gi, `$1${BLOT}@`);
}
