import { Agent, request as requestHttp, type IncomingMessage } from "node:http";
import { Agent as TlsAgent, request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { UpstreamFailure, type UpstreamGuard } from "../upstream-guard.js";

/** Sends requests of clients to the registries behind their images. */
export interface RegistryClient extends Disposable {
  /**
   * Follows no redirect. Rejects with TooManyRequests, or when the connection fails, the address is not allowed, the
   * answer does not begin in time, or the signal is aborted. An abort also ends the body.
   */
  ask(asked: RegistryRequest, signal: AbortSignal): Promise<RegistryAnswer>;
}

export type RegistryAnswer = Pick<IncomingMessage, "statusCode" | "headers" | "headersDistinct"> & Readable;

export interface RegistryRequest {
  method: "GET" | "HEAD";
  url: string;
  headers: Readonly<Record<string, string | string[]>>;
}

export class TooManyRequests extends Error {}

export const REGISTRY_LIMITS = {
  /** From the request to the headers of the answer. */
  answerMsMax: 30_000,
  /** Without a byte, because the registry sends none or the client takes none. */
  idleMsMax: 120_000,
  /** Requests at once. Each holds less than 1 MiB, whatever the size of its body. */
  requestsMax: 1_000,
};

/** Connections are kept for the next request: a pull makes about ten, and TLS costs more than all of them. */
const KEPT_CONNECTIONS = { keepAlive: true, timeout: 10_000, maxFreeSockets: 64 };

/**
 * Any account can name a registry. Each connection is made to an address that the guard has checked, and is used for
 * that host only. Proxies of the environment are not used.
 */
export function createRegistryClient(
  guard: UpstreamGuard,
  limits: Partial<typeof REGISTRY_LIMITS> = {},
): RegistryClient {
  const { answerMsMax, idleMsMax, requestsMax } = { ...REGISTRY_LIMITS, ...limits };
  const agents = { "http:": new Agent(KEPT_CONNECTIONS), "https:": new TlsAgent(KEPT_CONNECTIONS) };
  let requests = 0;

  function send({ method, url: text, headers }: RegistryRequest, signal: AbortSignal) {
    const url = new URL(text);
    const isTls = url.protocol === "https:";
    const agent = agents[isTls ? "https:" : "http:"];
    const options = { method, headers, agent, lookup: guard.lookup, signal };
    return (isTls ? requestHttps : requestHttp)(url, options);
  }

  function answerOf(asked: RegistryRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = send(asked, signal);
      let hasAnswer = false;
      const late = setTimeout(() => request.destroy(new UpstreamFailure("no answer in time")), answerMsMax);
      request.once("close", () => clearTimeout(late));
      request.once("response", (answer) => {
        hasAnswer = true;
        clearTimeout(late);
        request.setTimeout(idleMsMax, () => request.destroy());
        resolve(answer);
      });
      // Not `once`: the connection may also break during the body, where the reader gets the error too.
      request.on("error", (error: NodeJS.ErrnoException) => {
        // The registry closed a kept connection just then. On a new one this does not happen again.
        if (!hasAnswer && request.reusedSocket && error.code === "ECONNRESET" && !signal.aborted)
          resolve(answerOf(asked, signal));
        else reject(error);
      });
      request.end();
    });
  }

  return {
    async ask(asked, signal) {
      const fault = guard.faultOf(asked.url);
      if (fault !== undefined) throw new UpstreamFailure(`The URL ${fault}.`);
      if (requests >= requestsMax) throw new TooManyRequests();
      requests++;
      try {
        const answer = await answerOf(asked, signal);
        answer.once("close", () => requests--);
        return answer;
      } catch (error) {
        requests--;
        throw error;
      }
    },
    [Symbol.dispose]: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}
