import { createServer } from "node:http";
import Koa from "koa";
import type { Logger } from "pino";
import { requestId } from "../api/middleware/request-id.js";
import type { ApiState } from "../api/route.js";
import { healthMiddleware, type Readiness } from "../api/routes/health.js";
import type { Listen } from "./config.js";
import { listen, type ListeningServer } from "./listen.js";

/** The port of live collection: health without a token, and an empty 404 for what nothing here collects. */
export function startCollectServer(
  { host, port }: Listen,
  { readiness, log }: { readiness: Readiness; log: Logger },
): Promise<ListeningServer> {
  const app = new Koa<ApiState>();
  app.use(requestId(log));
  app.use(healthMiddleware(readiness));
  app.use((ctx) => void (ctx.status = 404));
  app.silent = true;
  const handle = app.callback();
  return listen(
    createServer((request, response) => void handle(request, response)),
    { host, port, variable: "COLLECT_PORT" },
  );
}
