import { expect, test } from "vitest";
import {
  ClusterServer,
  ServerDown,
} from "../../../../../../deploy/stores/clickhouse/cluster/cluster-server.js";

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
