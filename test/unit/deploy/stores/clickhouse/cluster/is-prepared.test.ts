import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ClusterServer } from "../../../../../../deploy/stores/clickhouse/cluster/cluster-server.js";
import { isPrepared } from "../../../../../../deploy/stores/clickhouse/cluster/is-prepared.js";

let server: Server;
let url: string;
let answer: { status: number; text: string };
let asked: (string | undefined)[];

beforeEach(async () => {
  [answer, asked] = [{ status: 200, text: "1\n" }, []];
  server = createServer((request, response) => {
    asked.push(`${request.url ?? ""} ${String(request.headers["x-clickhouse-user"] ?? "")}`.trim());
    if (request.url === "/ping") response.end("Ok.\n");
    else response.writeHead(answer.status).end(answer.text);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://ada:secret@127.0.0.1:${(server.address() as AddressInfo).port}/?database=maintainer`;
});

afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});

const prepared = () => isPrepared(url, { wholeDatabase: "maintainer_all" });
const codedError = (code: string) => Object.assign(new Error(code), { code });

test("a server has its tables once it has those with the rows of all shards", async () => {
  expect(await prepared()).toBe(true);
  expect(asked).toEqual(["/?param_database=maintainer_all ada"]);
  answer.text = "0\n";
  expect(await prepared()).toBe(false);
  answer = { status: 403, text: "1" };
  expect(await prepared()).toBe(false);
});

test("a server is used only while it has them, and is asked once", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const one = new ClusterServer(url, prepared);
  answer.text = "0\n";
  expect(await Promise.all([one.isUp(), one.isUp()])).toEqual([false, false]);
  expect(asked).toHaveLength(2);
  answer.text = "1\n";
  expect(await one.isUp()).toBe(false);
  vi.advanceTimersByTime(3_001);
  expect(await one.isUp()).toBe(true);
  expect(await one.isUp()).toBe(true);
  expect(asked).toHaveLength(4);
});

test.each(["60", "ECONNREFUSED"])("a server that failed with %s is asked anew", async (code) => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const one = new ClusterServer(url, prepared);
  expect(await one.isUp()).toBe(true);
  answer.text = "0\n";
  await expect(one.run(() => Promise.reject(codedError(code)))).rejects.toThrow();
  vi.advanceTimersByTime(3_001);
  expect(await one.isUp()).toBe(false);
});
