import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { createHmac, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Stage } from "../../../schemas/records/funnel.js";

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

/** The body of a `company-funnel-stage-changed` event, as the specification has it. */
export interface Announcement {
  id: string;
  type: string;
  owner: string;
  created_at: string;
  data: { companies: AnnouncedCompany[] };
}

export interface AnnouncedCompany {
  domain: string;
  name: string;
  old_stage?: Stage;
  new_stage: Stage;
}

/** Reads what came to a receiver after it has verified both of its signatures; throws what is wrong with them. */
export function readAnnouncement({ headers, body }: Received, secret: string): Announcement {
  new Webhook(secret).verify(body, headers as Record<string, string>);
  verifyServiceSignature(String(headers["x-service-signature"]), { body, secret });
  return JSON.parse(body.toString()) as Announcement;
}

const TOLERANCE_S = 300;

/** The steps of the specification. */
function verifyServiceSignature(header: string, { body, secret }: { body: Buffer; secret: string }): void {
  const [, t = "", v1 = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const digest = createHmac("sha256", secret).update(`${t}.`).update(body).digest();
  const given = Buffer.from(v1, "hex");
  if (given.length !== digest.length || !timingSafeEqual(given, digest))
    throw new Error(`X-Service-Signature ${header} does not sign the body`);
  if (Math.abs(Date.now() / 1000 - Number(t)) > TOLERANCE_S)
    throw new Error(`X-Service-Signature ${header} is not of now`);
}
