import { createServer, type RequestListener, type Server, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/** An HTTP server on a free port of this machine. */
export interface StartedServer extends AsyncDisposable {
  /** Without a slash at the end. */
  url: string;
  port: number;
  server: Server;
}

/** Clients take another loopback address for another host. */
export async function startServer(handle: RequestListener, address = "127.0.0.1"): Promise<StartedServer> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${port}`,
    port,
    server,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

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
