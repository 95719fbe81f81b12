import type { ClickHouse } from "../../schemas/shards.js";

/**
 * Writes down what the files of a server of ClickHouse still hold in memory, by sync(2) on its machine. It is cheaper than
 * settings that sync what each insert writes, which is some two hundred files. Needs the right SYSTEM SYNC FILE CACHE.
 */
export async function syncDisks(server: ClickHouse): Promise<void> {
  await server.command({ query: "SYSTEM SYNC FILE CACHE" });
}

/** Calls at one time share it: one serves all who asked before it began, and those who ask while it runs share the next. */
export function syncInTurns(server: ClickHouse): () => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return (current = syncDisks(server));
      });
    return next;
  };
}
