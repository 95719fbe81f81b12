import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";

export interface ManagementRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON; a Buffer as it is. */
  body?: unknown;
}

export interface ManagementAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined for an empty body. */
  body: unknown;
}

/** Connections to the API that are reused for all requests until disposed of. */
export interface KeepAliveConnections extends Disposable {
  send(request: ManagementRequest): Promise<ManagementAnswer>;
}

/** Does not use `fetch`, which takes several times the CPU, on cores that the measured program shares. */
export function openKeepAliveConnections(url: string, connectionsMax: number): KeepAliveConnections {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  return {
    send: (wanted) => send(agent, url, wanted),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function send(
  agent: Agent,
  url: string,
  { method, path, headers, body }: ManagementRequest,
): Promise<ManagementAnswer> {
  return new Promise((resolve, reject) => {
    const sending = request(new URL(path, url), { agent, method, headers }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const parse = (bytes: Buffer) => ({ status, headers, body: parsed(bytes) });
      buffer(answer).then(parse).then(resolve, reject);
    });
    sending.once("error", reject);
    sending.end(body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

function parsed(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : (JSON.parse(bytes.toString()) as unknown);
}
