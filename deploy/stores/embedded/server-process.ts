import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { settlesWithin } from "../../../schemas/async/pause.js";

export interface ServerProcess {
  readonly pid: number;
  /** Resolves with how the process ended, such as `exit status 1`. Never rejects. */
  readonly gone: Promise<string>;
  /** The last 20 lines of its log. */
  tail(): string;
  /** Sends the signals in order until the process has ended, and waits `patienceMs` after each. */
  end(signals: readonly EndSignal[]): Promise<void>;
  /** Resolves with whether the process ends within that time. */
  isGoneWithin(ms: number): Promise<boolean>;
}

export interface EndSignal {
  signal: NodeJS.Signals;
  patienceMs: number;
}

export interface ServerCommand {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The user to run as; absent when the command switches the user itself, or runs as this one. */
  uid?: number | undefined;
  gid?: number | undefined;
  /**
   * The server leaves its process group itself. Linux weighs priorities only within a session (sched(7), "The
   * autogroup feature"): a lowered one means nothing to processes of others.
   */
  staysInSession?: true | undefined;
  onLine: (line: string) => void;
}

/** The server's descriptor of the parent pipe, which closes when this process ends. */
export const PARENT_PIPE_FD = 3;

const TAIL_LINES = 20;
const LAST_LINES_MS = 300;

/**
 * A shell script that becomes the server, its arguments, with the same pid, and leaves a background process that ends the
 * server when the parent pipe closes: with `stop`, and after ten seconds with `kill`. A line in the pipe ends that process.
 */
export const withParentPipe = ({ stop, kill }: Record<"stop" | "kill", string>): string => `
( (
  if read -r _ <&${PARENT_PIPE_FD}; then exit; fi
  kill -${stop} $$
  for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 $$ || exit; done
  kill -${kill} $$
) >/dev/null 2>&1 & )
exec "$@" ${PARENT_PIPE_FD}<&-`;

/**
 * Starts a server that ends with this process. The server, or a process beside it, reads the parent pipe
 * (PARENT_PIPE_FD), which stays empty and closes when this process ends for any reason. When the server ends first, a line
 * is written to the pipe, so that the process beside it ends no other process with that pid. Standard input does not
 * serve, because Node closes it before the event "exit". The server has a session or a process group of its own, so that
 * Ctrl-C in the terminal only reaches this process, which drains before it stops its stores.
 */
export async function spawnServer(server: ServerCommand): Promise<ServerProcess> {
  const { command, args, cwd, env, uid, gid, staysInSession = false, onLine } = server;
  const ids = uid === undefined || gid === undefined ? {} : { uid, gid };
  const child = spawn(command, args, {
    cwd,
    env,
    ...ids,
    detached: !staysInSession,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const gone = untilEnded(child);
  const tail = collectTail(child.stderr as Readable, onLine);
  await once(child, "spawn");
  const isGoneWithin = (ms: number) => settlesWithin(gone, ms);
  return {
    pid: child.pid as number,
    gone,
    tail: () => tail.join("\n"),
    isGoneWithin,
    async end(signals) {
      for (const { signal, patienceMs } of signals) {
        child.kill(signal);
        if (await isGoneWithin(patienceMs)) return;
      }
    },
  };
}

function untilEnded(child: ChildProcess): Promise<string> {
  const parentPipe = child.stdio[PARENT_PIPE_FD] as Writable;
  parentPipe.on("error", () => undefined); // the server may have closed the pipe
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      parentPipe.end("gone\n");
      const end = signal === null ? `exit status ${code}` : `signal ${signal}`;
      // "close" follows the last line of the log, but a helper that outlives the server can delay it.
      const timer = setTimeout(() => resolve(end), LAST_LINES_MS);
      child.once("close", () => {
        clearTimeout(timer);
        resolve(end);
      });
    });
  });
}

function collectTail(log: Readable, onLine: (line: string) => void): string[] {
  const tail: string[] = [];
  createInterface({ input: log }).on("line", (line) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
    onLine(line);
  });
  return tail;
}
