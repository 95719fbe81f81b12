import { request } from "node:http";
import { pipeline } from "node:stream";
import { startServer, type StartedServer } from "./start-server.js";

/**
 * A forward proxy, for clients that cannot be told where a made-up name is: requests to `127.0.0.1` go where they say,
 * all others to this port of it, under the name that they are for.
 */
export function startProxy(othersTo: () => string): Promise<StartedServer> {
  return startServer((incoming, outgoing) => {
    const { host, hostname, port, pathname, search } = new URL(incoming.url ?? "");
    const forwarded = request(
      {
        host: "127.0.0.1",
        port: hostname === "127.0.0.1" ? port : othersTo(),
        method: incoming.method,
        path: pathname + search,
        headers: { ...incoming.headers, host },
        agent: false,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        pipeline(answer, outgoing, () => undefined);
      },
    );
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
}
