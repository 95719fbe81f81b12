import {
  spawnServer,
  type ServerProcess,
  withParentPipe,
} from "../../deploy/stores/embedded/server-process.js";

export interface WatchedCommand {
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  onLine: (line: string) => void;
}

/**
 * SIGKILL follows because a stopped program handles SIGTERM only when continued. Standard output is merged into standard
 * error, because Maven writes its errors there.
 */
const WITH_WATCHER = `${withParentPipe({ stop: "TERM", kill: "KILL" })} >&2`;

/** Starts an external program that ends with this process, however that ends. */
export function spawnWatched({ command, ...rest }: WatchedCommand): Promise<ServerProcess> {
  return spawnServer({
    command: "/bin/sh",
    args: ["-c", WITH_WATCHER, "kafka-watcher", ...command],
    ...rest,
  });
}
