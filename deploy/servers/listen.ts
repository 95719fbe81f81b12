import type { Server, ServerResponse } from "node:http";
import type { Socket, AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { StartFailure } from "../process/start-failure.js";

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** The variable that an operator changes to move this server; named when the port cannot be had. */
  variable: string;
}

export interface ListeningServer extends AsyncDisposable {
  /** `http://<host>:<port>`, with the port really taken. */
  readonly url: string;
  readonly port: number;
  /**
   * Drains: from now on every answer ends its connection, and what idle connections still send is answered for a
   * moment. Then nothing new is taken; resolves when every request in hand is answered, or cut after some seconds.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a port for an HTTP server. Throws StartFailure with a sentence when it cannot be had. */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  const answers = watchAnswers(server);
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
    return `${where} is taken (${variable}): stop the program that holds it or choose another port`;
  }
  if (code === "EACCES") {
    return `${where} may not be opened by this user (${variable}): choose one above 1023`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return `${host} is not an address of this machine (HOST), so port ${port} (${variable}) cannot be opened`;
  }
  return `${where} (${variable}) cannot be opened: ${message}`;
}

interface Answers {
  /** From now on every answer says that it is the last of its connection. */
  endConnections(): void;
  /** Closes connections on which nothing was ever asked; Node takes them for busy. */
  closeSilent(): void;
}

function watchAnswers(server: Server): Answers {
  const inHand = new Set<ServerResponse>();
  const connections = new Set<Socket>();
  let isEnding = false;
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", (_, answer) => {
    if (isEnding) answer.setHeader("Connection", "close");
    inHand.add(answer);
    answer.once("close", () => inHand.delete(answer));
  });
  return {
    endConnections() {
      isEnding = true;
      for (const answer of inHand) if (!answer.headersSent) answer.setHeader("Connection", "close");
    },
    closeSilent() {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

const IDLE_SWEEP_MS = 100;
/** What a client sent on a kept connection before it could know has arrived by then. */
const LAST_REQUESTS_MS = 300;
/** An upload may go on for hours: what is not answered by then is cut, and ends as a broken connection does. */
const ANSWER_MS_MAX = 8_000;

/** A connection kept alive by its client falls idle only after the answer in hand: sweep until none is left. */
async function closed(server: Server, answers: Answers): Promise<void> {
  answers.endConnections();
  if ((await connectionsOf(server)) > 0) await sleep(LAST_REQUESTS_MS);
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
