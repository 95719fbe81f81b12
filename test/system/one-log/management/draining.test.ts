import { once } from "node:events";
import { Agent, get as httpGet, type IncomingMessage } from "node:http";
import { expect, describe, test, vi } from "vitest";
import { createApiServer } from "../../../../deploy/roles/servers/create-api-server.js";
import { listen } from "../../../../deploy/roles/servers/listen.js";
import { openBareSocket } from "../../../support/imports/open-upload.js";

describe("a server that drains", () => {
  const HELLO = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  async function start(answerAfterMs = 0) {
    const server = createApiServer(
      (_, response) => void setTimeout(() => response.end("hello"), answerAfterMs),
    );
    const cut = vi.spyOn(server, "closeAllConnections");
    return Object.assign(await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" }), { cut });
  }

  test("still answers on a kept connection, and says that it is the last time", async () => {
    const server = await start();
    const socket = await openBareSocket(server.url);
    await socket.send(HELLO);
    await expect.poll(() => socket.answered()).toMatch(/Connection: keep-alive[^]*hello/);
    const closing = server[Symbol.asyncDispose]();
    await socket.send(HELLO);
    expect((await socket.closed).match(/Connection: \S+/g)).toEqual([
      "Connection: keep-alive",
      "Connection: close",
    ]);
    await closing;
  });

  test("ends the connection of an answer that was in hand", async () => {
    const server = await start(150);
    const socket = await openBareSocket(server.url);
    await socket.send(HELLO);
    await new Promise((soon) => setTimeout(soon, 50));
    const closing = server[Symbol.asyncDispose]();
    expect(await socket.closed).toMatch(/Connection: close[^]*hello/);
    await closing;
  });

  test("does not wait for connections on which nothing is asked", async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true });
    const request = httpGet(server.url, { agent });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    const silent = await openBareSocket(server.url);
    await server[Symbol.asyncDispose]();
    await silent.closed;
    expect(server.cut).not.toHaveBeenCalled();
    agent.destroy();
  });
});
