import type { RequestListener } from "node:http";
import Koa from "koa";
import type { Logger } from "pino";
import { forwardedAddress } from "../../../api/identity/client-address.js";
import { requestId } from "../../../api/http/middleware/access-log.js";
import type { ApiState } from "../../../api/http/route.js";
import { healthMiddleware, type Readiness } from "../../../api/http/health-routes.js";
import type { ServerHooks } from "../../../ingest/collect/create-collect-server.js";
import { answerAmbiguous, answerUnparsed } from "./answer-unparsed.js";
import { KEEP_ALIVE_MS, lingeringClose } from "./create-api-server.js";

export interface ServerHooksOptions {
  readiness: Readiness;
  trustsProxy: (address: string) => boolean;
  log: Logger;
}

/** Gives the server of live collection the same health checks, errors and client addresses as the API. */
export function serverHooks({ readiness, trustsProxy, log }: ServerHooksOptions): ServerHooks {
  return {
    answerHealth: healthListener(readiness, log),
    answerAmbiguous,
    answerUnparsed: (error, socket) => answerUnparsed(error, socket, log),
    lingeringClose,
    keepAliveMs: KEEP_ALIVE_MS,
    clientAddress({ socket, headers }) {
      const forwardedFor = headers["x-forwarded-for"] ?? "";
      const connection = {
        remoteAddress: socket.remoteAddress,
        forwardedFor: Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor,
        forwarded: headers.forwarded,
      };
      return forwardedAddress(connection, trustsProxy) ?? "";
    },
  };
}

function healthListener(readiness: Readiness, log: Logger): RequestListener {
  const app = new Koa<ApiState>();
  app.use(requestId(log));
  app.use(healthMiddleware(readiness));
  app.silent = true;
  const handle = app.callback();
  return (incoming, response) => void handle(incoming, response);
}
