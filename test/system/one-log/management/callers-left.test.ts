import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { callOwnApi } from "../../../../api/base/http/call-own-api.js";
import { type ApiContext, type Route, route } from "../../../../api/base/http/route.js";
import { STREAMS_MAX } from "../../../../api/features/statistics/live/count-streams.js";
import { openLiveFeeds } from "../../../../api/features/statistics/live/live-feeds.js";
import { liveRoutes } from "../../../../api/features/statistics/live/live-routes.js";
import { untilAborted } from "../../../../schemas/async/pause.js";
import { api, useOneWorld, world } from "../../../support/api/use-world.js";

const feeds = openLiveFeeds(async () => []);
afterAll(() => feeds[Symbol.dispose]());

/** Requests of the routes below that are at work, and the reasons why the others ended. */
const working = new Set<string>();
const ended: string[] = [];

async function workUntilLeft({ path, state }: ApiContext): Promise<void> {
  working.add(path);
  try {
    await untilAborted(new Promise(() => undefined), state.left);
  } catch (error) {
    ended.push(`${path}: ${(error as Error).message}`);
    throw error;
  } finally {
    working.delete(path);
  }
}

const asked = (path: string, handle: (ctx: ApiContext, url: string) => Promise<void>): Route =>
  route({
    method: "POST",
    path,
    action: "assistants.ask",
    operation: {
      id: path.replaceAll("/", ""),
      summary: "Work until the caller leaves",
      answers: { 204: { description: "It did" } },
    },
    handle: ({ ctx }) => handle(ctx, path),
  });

useOneWorld(({ pg }) => ({
  routes: [
    ...liveRoutes({ pg, clickhouse: {} as never, feeds }),
    asked("/v1/work", workUntilLeft),
    asked("/v1/call-work", async (ctx) => {
      const account = ctx.state.account as NonNullable<typeof ctx.state.account>;
      await Promise.all(
        Array.from({ length: 3 }, () => callOwnApi(ctx, { account }, { method: "POST", url: "/v1/work" })),
      );
    }),
  ],
}));

/** Sends the same request this often without waiting for a response. */
function pipeline(request: string, times: number): Socket {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const head = `${request} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${world.tokens.owner}\r\n`;
  socket.write(`${head}Content-Length: 0\r\n\r\n`.repeat(times));
  return socket;
}

describe("the work of a caller who leaves ends", () => {
  test("in the calls that a page makes in this process", async () => {
    ended.length = 0;
    const socket = pipeline("POST /v1/call-work", 1);
    await expect.poll(() => [...working]).toEqual(["/v1/work"]);
    socket.destroy();
    await expect.poll(() => ended.length).toBe(3);
    expect(new Set(ended)).toEqual(new Set(["/v1/work: the client disconnected"]));
    expect([...working]).toEqual([]);
  });

  test("in requests that wait behind another one on their connection", async () => {
    ended.length = 0;
    const socket = pipeline("POST /v1/work", 3);
    await expect.poll(() => [...working]).toEqual(["/v1/work"]);
    socket.destroy();
    await expect.poll(() => ended.length).toBe(3);
  });

  test("in live streams, of which the account may then open as many again", async () => {
    const path = `/v2/${world.organization}/live/stream`;
    const socket = pipeline(`GET ${path}`, STREAMS_MAX.perAccount);
    await once(socket, "data");
    socket.destroy();
    const openAll = async () => {
      const headers = { authorization: `Bearer ${world.tokens.owner}` };
      const streams = Array.from({ length: STREAMS_MAX.perAccount }, () =>
        fetch(api.url + path, { headers }),
      );
      const opened = await Promise.all(streams);
      await Promise.all(opened.map(async ({ body }) => body?.cancel()));
      return opened.map(({ status }) => status);
    };
    await expect.poll(openAll).toEqual(Array<number>(STREAMS_MAX.perAccount).fill(200));
  });
});
