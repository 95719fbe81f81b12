import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { settlesWithin } from "../../../schemas/async/settles-within.js";

/** A store's server as a child process. */
export interface ServerProcess {
  readonly pid: number;
  /** How it ended, in words; resolves, never rejects. */
  readonly gone: Promise<string>;
  /** The last lines that it logged. */
  tail(): string;
  /** Sends the signals in turn, each with its patience, until it is gone. */
  end(signals: readonly EndSignal[]): Promise<void>;
  /** Whether it is gone within that time. */
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
  /** Set when the command is to change to this user itself. */
  uid?: number | undefined;
  gid?: number | undefined;
  onLine: (line: string) => void;
}

/** The descriptor, in the server, of the pipe that tells it whether we live. */
export const PARENT_PIPE_FD = 3;

const TAIL_LINES = 20;
const LAST_LINES_MS = 300;

/**
 * Starts a server that ends with this process: a pipe to it, PARENT_PIPE_FD, stays open and empty, so its end means that we are
 * gone, by whatever death; the server or a watcher beside it reads it. When the server went first, a line goes down the
 * pipe before it closes: there is nobody left to end. (Not standard input: Node closes that before it says "exit".) The
 * server has a session of its own: Ctrl-C in the terminal must reach only us, who drain before the stores go.
 */
export async function spawnServer(server: ServerCommand): Promise<ServerProcess> {
  const { command, args, cwd, env, uid, gid, onLine } = server;
  const ids = uid === undefined || gid === undefined ? {} : { uid, gid };
  const child = spawn(command, args, {
    cwd,
    env,
    ...ids,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const gone = watchEnd(child);
  const tail = keepTail(child.stderr as Readable, onLine);
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

function watchEnd(child: ChildProcess): Promise<string> {
  const parentPipe = child.stdio[PARENT_PIPE_FD] as Writable;
  parentPipe.on("error", () => undefined); // the server may be gone before its line
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      parentPipe.end("gone\n");
      const end = signal === null ? `exit status ${code}` : `signal ${signal}`;
      // "close" comes after the last line of the log, but a helper that outlives the server can keep it from coming.
      const timer = setTimeout(() => resolve(end), LAST_LINES_MS);
      child.once("close", () => {
        clearTimeout(timer);
        resolve(end);
      });
    });
  });
}

function keepTail(log: Readable, onLine: (line: string) => void): string[] {
  const tail: string[] = [];
  createInterface({ input: log }).on("line", (line) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
    onLine(line);
  });
  return tail;
}
