import { request } from "node:http";
import { pipeline } from "node:stream";
import { startServer, type StartedServer } from "../collect/start-server.js";

/** A proxy that serves another server below a path, as nginx and Traefik do, and says so in `X-Forwarded-Prefix`. */
export function startPrefixProxy({ to, prefix }: { to: string; prefix: string }): Promise<StartedServer> {
  return startServer((incoming, outgoing) => {
    const path = incoming.url ?? "";
    if (!path.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end();
    const forwarded = request(
      new URL(path.slice(prefix.length), to),
      {
        method: incoming.method,
        agent: false,
        headers: {
          ...incoming.headers,
          "x-forwarded-host": incoming.headers.host,
          "x-forwarded-prefix": prefix,
        },
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
