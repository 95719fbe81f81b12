import { createServer } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";

/** Receivers on this machine that count deliveries, and one that accepts connections and never answers. */
export interface BenchReceivers extends AsyncDisposable {
  live: string[];
  dead: string;
  /** Resets the counts. Resolves after this number of different deliveries. */
  expect(deliveries: number): Promise<void>;
  /** The number of repeated deliveries. */
  again(): number;
}

export async function openBenchReceivers(count: number): Promise<BenchReceivers> {
  const seen = new Set<string>();
  let [again, wanted] = [0, Infinity];
  let reached = () => undefined as void;
  const receive = (delivery: string) => {
    if (seen.has(delivery)) again += 1;
    seen.add(delivery);
    if (seen.size === wanted) reached();
  };
  const servers: Server[] = Array.from({ length: count }, (_, nth) =>
    createServer((request, response) => {
      request.resume().on("end", () => {
        receive(`${nth} ${String(request.headers["webhook-id"])}`);
        response.end();
      });
    }),
  );
  const dead = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
  const urls = await Promise.all([...servers, dead].map(listen));
  return {
    live: urls.slice(0, count),
    dead: urls.at(-1) ?? "",
    expect(deliveries) {
      seen.clear();
      [again, wanted] = [0, deliveries];
      return new Promise((resolve) => {
        reached = resolve;
      });
    },
    again: () => again,
    async [Symbol.asyncDispose]() {
      for (const server of [...servers, dead]) server.close().unref();
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
