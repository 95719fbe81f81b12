import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { collectDefaultMetrics, Registry } from "prom-client";
import { listen, type ListeningServer } from "./listen.js";

export interface MetricsServerOptions {
  host: string;
  port: number;
  registry: Registry;
}

/** Serves `GET /metrics` in Prometheus's text form. Throws StartFailure when the port cannot be had. */
export function startMetricsServer({ host, port, registry }: MetricsServerOptions): Promise<ListeningServer> {
  const server = createServer((request, response) => void answer(registry, request, response));
  return listen(server, { host, port, variable: "METRICS_PORT" });
}

/** A registry that already knows the process: memory, processor time, event loop lag, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

async function answer(registry: Registry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split("?", 1)[0];
  // Roles that listen nowhere else are asked here whether they are alive.
  if (path === "/healthz") {
    response.writeHead(200, { "Content-Type": "application/json" }).end('{"status":"ok"}');
    return;
  }
  if (path !== "/metrics") {
    response.writeHead(404).end();
    return;
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  try {
    const text = await registry.metrics();
    response.writeHead(200, { "Content-Type": registry.contentType }).end(text);
  } catch (error) {
    // One broken collector (a store that is down) must not end the process; the scraper sees the failure.
    response.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
  }
}
