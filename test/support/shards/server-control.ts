import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Does to one server what its machine could: `kill` ends it at once, `stop` freezes it until `cont`, `start` starts it
 * again and returns when it answers, `wipe` loses the disk of one that is not running.
 */
export type ControlVerb = "kill" | "stop" | "cont" | "start" | "wipe";

/** The servers of a shard are `a1`, `a2` and so on; all of their keepers together are `keeper`. */
export type ServerControl = (verb: ControlVerb, server: string) => Promise<void>;

const CONTROL_MS_MAX = 180_000;

/** Runs the shell command with the verb and the server behind it. */
export function controlBy(command: string): ServerControl {
  return async (verb, server) => {
    const line = `${command} ${verb} ${server}`;
    try {
      await promisify(execFile)("sh", ["-c", line], { timeout: CONTROL_MS_MAX });
    } catch (cause) {
      throw new Error(`${line} failed`, { cause });
    }
  };
}
