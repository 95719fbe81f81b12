import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { ALL_PREPARED, smallLookups } from "../stores/prepared-stores.js";
import { type ProcessEnvironment, spawnProgram } from "./toolchain-process.js";

/** How a start ended that could not succeed. */
export interface FailedStart {
  status: number | null;
  /** The lines of standard error that are not log lines, which are JSON. */
  said: string[];
}

/** Starts the program, which is to end by itself. `through`: see `spawnProgram`. */
export async function startFailing(
  env: ProcessEnvironment,
  through: readonly string[] = [],
): Promise<FailedStart> {
  const ports = { PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
  const program = spawnProgram(["start"], { ...ports, ...smallLookups(ALL_PREPARED), ...env }, through);
  const errors: Buffer[] = [];
  program.stdout?.resume();
  program.stderr?.on("data", (part: Buffer) => errors.push(part));
  const [status] = (await once(program, "close")) as [number | null];
  const lines = Buffer.concat(errors).toString().split("\n");
  return { status, said: lines.filter((line) => line !== "" && !line.startsWith("{")) };
}

const IS_ROOT = process.getuid?.() === 0;
const OVERRIDES = "-dac_override,-dac_read_search";

/** A command that runs another without root's power over files, which the mode of a folder does not stop. */
export const WITHOUT_RIGHTS = IS_ROOT
  ? ["setpriv", `--bounding-set=${OVERRIDES}`, `--inh-caps=${OVERRIDES}`]
  : [];

export function canLoseRights(): boolean {
  const [command = "true", ...args] = WITHOUT_RIGHTS;
  return spawnSync(command, [...args, ...(IS_ROOT ? ["true"] : [])]).status === 0;
}
