import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

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
