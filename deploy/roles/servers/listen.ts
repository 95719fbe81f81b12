import type { Server, ServerResponse } from "node:http";
import { type AddressInfo, BlockList, type Socket, isIP, isIPv4 } from "node:net";
import { pause } from "../../../schemas/async/pause.js";
import { StartFailure } from "../../process/start-failure.js";

interface ListenOptions {
  host: string;
  port: number;
  variable: string;
}

export interface ListeningServer extends AsyncDisposable {
  /** `http://<host>:<port>`, with the actual port. */
  readonly url: string;
  readonly port: number;
  /**
   * Every answer now ends its connection. Resolves when all requests are answered; closes the connections of
   * those that take long.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a port for an HTTP server. Throws StartFailure when it is not available. */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  const answers = trackAnswers(server);
  await opened(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, port, [Symbol.asyncDispose]: () => closed(server, answers) };
}

function opened(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      reject(new StartFailure(sentence(error, options), { cause: error }));
    server.once("error", refuse);
    server.listen(options.port, options.host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

function sentence({ code, message }: NodeJS.ErrnoException, { host, port, variable }: ListenOptions): string {
  const where = `port ${port} on ${host}`;
  if (code === "EADDRINUSE") {
    return `${where} is taken (${variable}): stop the program that uses it, or choose another port`;
  }
  if (code === "EACCES") {
    return `this user cannot open ${where} (${variable}): choose a port above 1023`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return (
      `port ${port} (${variable}) cannot be opened because ${host} (HOST) is not an address of this machine: ` +
      "change HOST"
    );
  }
  return `${where} (${variable}) cannot be opened: ${message}`;
}

interface Answers {
  endConnections(): void;
  /** Closes connections without any request, which Node does not count as idle. */
  closeSilent(): void;
}

function trackAnswers(server: Server): Answers {
  // By connection: a pipelined answer never closes when its connection does, and would be kept for good.
  const connections = new Map<Socket, Set<ServerResponse>>();
  let isEnding = false;
  server.on("connection", (socket) => {
    connections.set(socket, new Set());
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", ({ socket }, answer) => {
    if (isEnding) answer.setHeader("Connection", "close");
    const pending = connections.get(socket);
    pending?.add(answer);
    answer.once("close", () => pending?.delete(answer));
  });
  return {
    endConnections() {
      isEnding = true;
      for (const answer of [...connections.values()].flatMap((pending) => [...pending]))
        if (!answer.headersSent) answer.setHeader("Connection", "close");
    },
    closeSilent() {
      for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

const IDLE_SWEEP_MS = 100;
/** Requests that clients send on open connections before they notice the drain arrive within this time. */
const LAST_REQUESTS_MS = 300;
/** An upload may take hours, so connections without an answer are closed after this time. */
const ANSWER_MS_MAX = 8_000;

/** A connection becomes idle only after its current answer, so idle ones are closed repeatedly until none is left. */
async function closed(server: Server, answers: Answers): Promise<void> {
  answers.endConnections();
  if ((await connectionsOf(server)) > 0) await pause(LAST_REQUESTS_MS);
  answers.closeSilent();
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), ANSWER_MS_MAX);
  try {
    await new Promise<void>((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
    });
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** Makes a test for the addresses of TRUSTED_PROXIES (addresses or CIDR ranges, IPv4 and IPv6). */
export function trustsProxy(trusted: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = "", prefix] = each.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:/, "");
    return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
  };
}
