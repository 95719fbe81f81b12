import type { ClickHouse } from "../../../../schemas/shards.js";
import { ServerDown, type ClusterServer } from "./cluster-server.js";

/** A server of a cluster, and a client of it. */
export interface Connected<Client> {
  server: ClusterServer;
  client: Client;
}

/**
 * Runs `work` on the first server that is up, and on the next where one turns out to be down. `what` names them in errors. With
 * `once` the first try is the last.
 */
export async function onFirstUp<Client, T>(
  servers: readonly Connected<Client>[],
  { what, once = false }: { what: string; once?: boolean },
  work: (connected: Connected<Client>) => Promise<T>,
): Promise<T> {
  let down: ServerDown | undefined;
  for (const connected of servers) {
    if (!(await connected.server.isUp())) continue;
    try {
      return await work(connected);
    } catch (error) {
      if (!(error instanceof ServerDown)) throw error;
      down = error;
      if (once) break;
    }
  }
  const names = servers.map(({ server }) => server.name).join(", ");
  throw down ?? new ServerDown(`no server of ${what} answers: ${names}`);
}

/** A client of the first server that is up, in the order that `order` answers for each request. */
export function failOver(order: () => readonly Connected<ClickHouse>[], what: string): ClickHouse {
  function run<Asked extends { abort_signal?: AbortSignal; values?: unknown }, T>(
    asked: Asked,
    call: (client: ClickHouse, asked: Asked) => Promise<T>,
  ): Promise<T> {
    // A body that was begun cannot be sent again: the caller makes another.
    const once = isStream(asked.values);
    return onFirstUp(order(), { what, once }, ({ server, client }) =>
      server.run((signal) => call(client, { ...asked, abort_signal: signal }), asked.abort_signal),
    );
  }
  return {
    command: (asked) => run(asked, (client, request) => client.command(request)),
    exec: (asked) => run(asked, (client, request) => client.exec(request)),
    insert: (asked) => run(asked, (client, request) => client.insert(request)),
    query: (asked) => run(asked, (client, request) => client.query(request)),
  };
}

function isStream(values: unknown): boolean {
  return typeof values === "object" && values !== null && "pipe" in values;
}
