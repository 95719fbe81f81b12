import { spawnServer, type ServerProcess } from "../../deploy/stores/embedded/server-process.js";

export interface WatchedCommand {
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  onLine: (line: string) => void;
}

/**
 * Replaces the shell with the program, which keeps the process id, and leaves a watcher process that is no child of it.
 * The watcher stops the program when the pipe from the parent (descriptor 3) closes; a line on the pipe ends the watcher
 * (see spawnServer). SIGKILL follows because a stopped program handles SIGTERM only when continued. Standard output is
 * merged into standard error, because Maven writes its errors there.
 */
const WITH_WATCHER = `
( (
  if read -r _ <&3; then exit; fi
  kill -TERM $$
  for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 $$ || exit; done
  kill -KILL $$
) >/dev/null 2>&1 & )
exec "$@" 3<&- >&2
`;

/** Starts an external program that ends with this process, however that ends. */
export function spawnWatched({ command, ...rest }: WatchedCommand): Promise<ServerProcess> {
  return spawnServer({
    command: "/bin/sh",
    args: ["-c", WITH_WATCHER, "kafka-watcher", ...command],
    ...rest,
  });
}
