import { spawnServer, type ServerProcess } from "../stores/embedded/server-process.js";

export interface WatchedCommand {
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  onLine: (line: string) => void;
}

/**
 * Becomes the program itself, so that its process id is the one we started, and leaves a watcher beside it, no child of
 * it, that ends it when the pipe from our process closes. See spawnServer for the pipe (descriptor 3) and the line that
 * ends the watch. A program that is frozen hears SIGTERM only when it goes on, hence the SIGKILL. Both outputs are read
 * as one: Maven writes its errors to standard output.
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

/** Starts a program that knows nothing of us, and that ends when this process does, by whatever death. */
export function spawnWatched({ command, ...rest }: WatchedCommand): Promise<ServerProcess> {
  return spawnServer({
    command: "/bin/sh",
    args: ["-c", WITH_WATCHER, "kafka-watcher", ...command],
    ...rest,
  });
}
