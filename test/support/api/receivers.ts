import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";

/** A request that came to a receiver of webhooks. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The event's id. */
  id: string;
  at: number;
}

export interface Receiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
  /** Connections that are open now, and the most that ever were. */
  open: number;
  openMax: number;
  /** How many were made. */
  connections: number;
}

/** An HTTP receiver on a free port of this machine; without an answer of its own it says 200 "thank you". */
export async function openReceiver(
  answer: RequestListener = (_, response) => void response.end("thank you"),
) {
  const receiver = emptyReceiver();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const id = String(request.headers["webhook-id"]);
      receiver.received.push({ headers: request.headers, body, id, at: performance.now() });
      answer(request, response);
    });
  });
  return listenOn(server, receiver);
}

/** A receiver that speaks, or does not, in its own way. */
export async function openRawReceiver(converse: (socket: Socket) => void): Promise<Receiver> {
  return listenOn(createTcpServer({ allowHalfOpen: false }, converse), emptyReceiver());
}

function emptyReceiver(): Omit<Receiver, keyof AsyncDisposable> {
  return { url: "", port: 0, received: [], open: 0, openMax: 0, connections: 0 };
}

async function listenOn(
  server: Server | TcpServer,
  counted: Omit<Receiver, keyof AsyncDisposable>,
): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const receiver: Receiver = Object.assign(counted, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    receiver.connections += 1;
    receiver.open += 1;
    receiver.openMax = Math.max(receiver.openMax, receiver.open);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      receiver.open -= 1;
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://127.0.0.1:${receiver.port}/hook`;
  return receiver;
}

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<number> {
  const receiver = await openRawReceiver(() => undefined);
  await receiver[Symbol.asyncDispose]();
  return receiver.port;
}
