import type { IncomingMessage, ServerResponse } from "node:http";
import { prometheusContentType } from "prom-client";
import { type HealthChecks, readHealth } from "../../../api/base/http/health-routes.js";
import { createApiServer } from "./create-api-server.js";
import { type ListeningServer, listen } from "./listen.js";

export interface MetricsServerOptions {
  host: string;
  port: number;
  metrics: () => Promise<string>;
  /** The stores and threads that this process needs. */
  checks: HealthChecks;
  idleMsMax?: number;
  /** How long a text is answered again. */
  reuseMs?: number;
}

/** Longer than a scrape takes, and than most scrapers pause between two. */
const IDLE_MS_MAX = 60_000;
const REQUEST_MS_MAX = 10_000;
const CONNECTIONS_MAX = 100;
const REUSE_MS = 1_000;

/**
 * `/metrics` and, for the supervisor of any role, `/healthz` (alive) and `/readyz` (200, or 503 naming what
 * is missing). Throws StartFailure when the port cannot be opened.
 */
export function startMetricsServer({
  host,
  port,
  idleMsMax = IDLE_MS_MAX,
  reuseMs = REUSE_MS,
  metrics,
  checks,
}: MetricsServerOptions): Promise<ListeningServer> {
  const sources = { checks, metrics: reused(metrics, reuseMs) };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // Requests that follow on the connection, and whose answers nobody reads, would be held in memory.
    response.setHeader("Connection", "close");
    void answer(sources, request, response);
  };
  const server = createApiServer(handle, { headersMs: REQUEST_MS_MAX });
  server.requestTimeout = REQUEST_MS_MAX;
  server.maxConnections = CONNECTIONS_MAX;
  server.setTimeout(idleMsMax);
  return listen(server, { host, port, variable: "METRICS_PORT" });
}

type Sources = Pick<MetricsServerOptions, "metrics" | "checks">;
type Answer = (sources: Sources, response: ServerResponse) => void | Promise<void>;

const ANSWERS: Partial<Record<string, Answer>> = {
  "/metrics": answerMetrics,
  "/healthz": (_, response) => answerJson(response, 200, { status: "ok" }),
  "/readyz": answerReadiness,
};

const NOT_FOUND = `Not found. This port serves ${Object.keys(ANSWERS).join(", ")}.\n`;

async function answer(sources: Sources, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = ANSWERS[request.url?.split("?", 1)[0] ?? ""];
  if (known === undefined) response.writeHead(404, { "Content-Type": "text/plain" }).end(NOT_FOUND);
  else if (request.method === "GET" || request.method === "HEAD") await known(sources, response);
  else response.writeHead(405, { Allow: "GET, HEAD" }).end();
}

async function answerMetrics({ metrics }: Sources, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics();
    response.writeHead(200, { "Content-Type": prometheusContentType }).end(text);
  } catch (error) {
    // One failing collector must not end the process. The scraper sees the failure.
    response.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
  }
}

async function answerReadiness({ checks }: Sources, response: ServerResponse): Promise<void> {
  const { ready, body } = await readHealth({ checks });
  answerJson(response, ready ? 200 : 503, body);
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/**
 * Rendering takes the thread of the API some milliseconds: it is done once at a time, and kept for `reuseMs`. `shareFor`
 * counts from the beginning, so it would render again beside a rendering that waits for a store.
 */
function reused(render: () => Promise<string>, reuseMs: number): () => Promise<string> {
  let text: Promise<string> | undefined;
  const forget = () => void (text = undefined);
  return () => (text ??= render().finally(() => setTimeout(forget, reuseMs).unref()));
}
