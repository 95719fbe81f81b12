import { Readable } from "node:stream";
import { expect, test } from "vitest";
import {
  ClusterServer,
  ServerDown,
  failOver,
} from "../../../../../../deploy/stores/clickhouse/cluster/cluster-server.js";
import type { ClickHouse } from "../../../../../../schemas/shards.js";

const errorOf = (code: string) => Object.assign(new Error(`fails with ${code}`), { code });

/** Servers that fail with these codes, or answer; nothing listens on their addresses. */
function serversOf(codes: readonly (string | undefined)[]) {
  const asked: string[] = [];
  const connected = codes.map((code, index) => {
    const name = `s${index + 1}`;
    const answer = async () => {
      asked.push(name);
      if (code !== undefined) throw errorOf(code);
      return name;
    };
    const client = { command: answer, exec: answer, insert: answer, query: answer } as unknown as ClickHouse;
    return { server: new ClusterServer(`http://127.0.0.1:${index + 1}`), client };
  });
  return { client: failOver(() => connected, "shard a"), asked };
}

test.each(["ECONNREFUSED", "ECONNRESET", "242", "999"])(
  "a server that fails with %s is passed over, and not asked again for a while",
  async (code) => {
    const { client, asked } = serversOf([code, undefined]);
    expect(await client.query({ query: "SELECT 1" })).toBe("s2");
    expect(await client.query({ query: "SELECT 1" })).toBe("s2");
    expect(asked).toEqual(["s1", "s2", "s2"]);
  },
);

test.each(["62", "241", "279", "285", "319"])("another server would fail with %s as well", async (code) => {
  const { client, asked } = serversOf([code, undefined]);
  await expect(client.command({ query: "SELECT 1" })).rejects.toThrow(`fails with ${code}`);
  expect(asked).toEqual(["s1"]);
});

test("names the servers where none is up", async () => {
  const { client } = serversOf(["ECONNREFUSED", "ECONNREFUSED"]);
  await expect(client.query({ query: "SELECT 1" })).rejects.toThrow(ServerDown);
  await expect(client.query({ query: "SELECT 1" })).rejects.toThrow(
    "no server of shard a responds: 127.0.0.1:1, 127.0.0.1:2",
  );
});

test("a body that was begun is not sent to another server: the caller sends it again", async () => {
  const { client, asked } = serversOf(["ECONNRESET", undefined]);
  const insert = () => client.exec({ query: "INSERT", values: Readable.from(["rows"]) });
  await expect(insert()).rejects.toThrow();
  expect(await insert()).toBe("s2");
  expect(asked).toEqual(["s1", "s2"]);
});

test("a request that its caller stops says nothing about the server", async () => {
  const stop = new AbortController();
  const client = {
    query: async ({ abort_signal: signal }: { abort_signal: AbortSignal }) => {
      stop.abort();
      expect(signal.aborted).toBe(true);
      throw errorOf("ECONNRESET");
    },
  } as unknown as ClickHouse;
  const server = new ClusterServer("http://127.0.0.1:1");
  const over = failOver(() => [{ server, client }], "shard a");
  await expect(over.query({ query: "SELECT 1", abort_signal: stop.signal })).rejects.toThrow("ECONNRESET");
  expect(await server.isUp()).toBe(true);
});

const failing = (code: string) => {
  const error = Object.assign(new Error(`said ${code}`), { code });
  return { error, running: new ClusterServer("http://a1:8123").run(() => Promise.reject(error)) };
};

test.each(["ECONNREFUSED", "ECONNRESET", "242", "81"])(
  "a server that is gone, read-only or without its disk is passed over (%s)",
  async (code) => {
    await expect(failing(code).running).rejects.toBeInstanceOf(ServerDown);
  },
);

test.each(["60", "241", "319"])("an error of the statement is the caller's (%s)", async (code) => {
  const { error, running } = failing(code);
  await expect(running).rejects.toBe(error);
});
