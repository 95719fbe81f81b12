import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pause } from "../../../../schemas/async/pause.js";
import { createAddressGuard } from "../../../../api/base/outbound/guard-address.js";
import {
  addWebhook,
  deliveriesTo,
  enqueue,
  openGuard,
  outcomes,
  startWorker,
  statesOf,
  useDeliveries,
  using,
} from "../../../support/api/delivery-world.js";
import { closedPort, openRawReceiver, openReceiver } from "../../../support/api/receivers.js";

useDeliveries();

/** Ahead of the database's clock, which says when an event is due at first; moved by hand. */
function openClock() {
  let time = Date.now() + 5_000;
  return { now: () => new Date(time), advance: (ms: number) => void (time += ms) };
}

/** A webhook with one event for it, delivered by a worker whose clock is moved by hand. */
async function deliverTo(url: string, options: Parameters<typeof startWorker>[0] = {}) {
  const clock = openClock();
  const webhook = await addWebhook(url);
  const [eventId] = await enqueue();
  startWorker({ now: clock.now, ...options });
  const read = async () => {
    const [delivery] = await deliveriesTo(webhook.id);
    if (delivery === undefined) throw new Error("there is no delivery");
    return delivery;
  };
  const attempted = (times: number) =>
    expect.poll(async () => (await read()).attempts.length, { interval: 10 }).toBe(times);
  /** The attempts of the delivery that comes to this. */
  const ended = async (state: string) => {
    await expect.poll(async () => (await read()).state).toBe(state);
    return (await read()).attempts;
  };
  return { clock, read, attempted, ended, eventId };
}

const say =
  (answer: string, then: (socket: Socket) => void = () => undefined) =>
  (socket: Socket) =>
    void socket.once("data", () => socket.write(answer, () => then(socket)));

/** Says it a byte at a time, without end in sight. */
function drip(first: string, rest: string) {
  return (socket: Socket) => {
    socket.once("data", () => {
      socket.write(first);
      let at = 0;
      const timer = setInterval(() => socket.write(rest[at++ % rest.length] ?? ""), 20);
      socket.once("close", () => clearInterval(timer));
    });
  };
}

/** Sends for as long as anybody reads. */
function flood(first: string, counted: { bytes: number }) {
  const block = Buffer.alloc(1 << 20, "x");
  return (socket: Socket) => {
    const more = (): void => {
      while (!socket.destroyed && counted.bytes < 1 << 30) {
        counted.bytes += block.length;
        if (!socket.write(block)) return void socket.once("drain", more);
      }
    };
    socket.once("data", () => {
      socket.write(first);
      more();
    });
  };
}

/** Those that are waited for until the time is over. */
const SLOW_MS = 300;

/** Opens a receiver that speaks so; its URL. */
const speaking = (converse: (socket: Socket) => void) => async () =>
  using(await openRawReceiver(converse)).url;
const EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\n\r\n";
const LATE = /did not respond in time/;

/** What a first attempt comes to where no answer comes, and the time that it has where it needs all of it. */
const UNANSWERED: [title: string, open: () => Promise<string>, error: RegExp, exchangeMs?: number][] = [
  ["refuses connections", async () => `http://127.0.0.1:${await closedPort()}/`, /ECONNREFUSED/],
  ["hangs", speaking((socket) => void socket.resume()), LATE, SLOW_MS],
  ["answers byte by byte", speaking(drip("HTTP/1.1 200 OK\r\nX-Slow: ", "z")), LATE, SLOW_MS],
  ["says to go on, again and again", speaking(drip("", EARLY_HINTS)), LATE, SLOW_MS],
  [
    "says to go on as fast as anybody reads",
    speaking(say(EARLY_HINTS.repeat(11))),
    /sends too many interim responses/,
  ],
  [
    "resets the connection",
    speaking((socket) => void socket.once("data", () => socket.resetAndDestroy())),
    /ECONNRESET|socket hang up/,
  ],
  [
    "closes without an answer",
    speaking((socket) => void socket.once("data", () => socket.end())),
    /socket hang up/,
  ],
  ["speaks no HTTP", speaking(say("220 mail.example.org ESMTP\r\n")), /could not be reached/],
  [
    "sends headers without end",
    speaking(flood("HTTP/1.1 200 OK\r\nX-Long: ", { bytes: 0 })),
    /HPE_HEADER_OVERFLOW|Header overflow/i,
  ],
  [
    "breaks TLS",
    async () => using(await openReceiver()).url.replace("http:", "https:"),
    /could not be reached/,
  ],
  [
    "has a certificate of its own making",
    async () => using(await openSelfSigned()).url,
    /self-signed certificate/,
  ],
];

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
/** To read the whole of it byte by byte would take half an hour. */
const LONG = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
const reset = (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 50);

/** Answers that are no whole ones, and what the only attempt comes to. */
const CUT_SHORT: [title: string, converse: (socket: Socket) => void, state: string, attempt: object][] = [
  ["switches protocols has failed", say(SWITCHING), "failed", { status: 101 }],
  [
    "switches protocols and resets the connection ends nothing but its own delivery",
    say(SWITCHING, reset),
    "failed",
    { status: 101 },
  ],
  [
    "says 200 in time and the rest byte by byte was told",
    drip(LONG, "so "),
    "delivered",
    { status: 200, response_body: expect.stringMatching(/^so so so/) as string },
  ],
  [
    "breaks off after its status was told",
    say(`${LONG}so`, (socket) => socket.end()),
    "delivered",
    { status: 200, response_body: "so" },
  ],
];

describe("a receiver that", () => {
  test.each(UNANSWERED)(
    "%s is tried four times, after 10, 60 and 360 s",
    async (_, open, error, exchangeMs) => {
      const timing = exchangeMs === undefined ? {} : { exchangeMs };
      const { clock, read, attempted, ended, eventId } = await deliverTo(await open(), { timing });
      for (const [nth, delayMs] of [10_000, 60_000, 360_000].entries()) {
        await attempted(nth + 1);
        const waiting = await read();
        expect(waiting.state).toBe("pending");
        expect(waiting.attempts[0]).toMatchObject({
          status: null,
          error: expect.stringMatching(error) as string,
        });
        expect(Date.parse(waiting.next_attempt_at ?? "") - clock.now().getTime()).toBe(delayMs);
        clock.advance(delayMs - 1);
        await pause(40);
        expect((await read()).attempts).toHaveLength(nth + 1);
        clock.advance(1);
      }
      await attempted(4);
      await ended("failed");
      clock.advance(86_400_000);
      await pause(40);
      expect(await read()).toMatchObject({ event_id: eventId, state: "failed" });
      expect((await read()).attempts).toHaveLength(4);
    },
  );

  test.each<[status: number, said: string, body: string]>([
    [500, "no\0pe \xff größer", "no\ufffdpe ÿ größer"],
    ...[301, 302, 303, 307, 308].map((status): [number, string, string] => [status, "", ""]),
  ])("answers %s has failed, once and for all, and is not followed elsewhere", async (status, said, body) => {
    const other = using(await openReceiver());
    const receiver = using(
      await openReceiver((_, response) => void response.writeHead(status, { location: other.url }).end(said)),
    );
    const { clock, read, ended } = await deliverTo(receiver.url);
    await ended("failed");
    clock.advance(86_400_000);
    await pause(40);
    expect((await read()).attempts).toMatchObject([{ status, response_body: body }]);
    expect([receiver.received.length, other.connections]).toEqual([1, 0]);
  });

  test.each(CUT_SHORT)("%s", async (_, converse, state, attempt) => {
    const receiver = using(await openRawReceiver(converse));
    const { ended } = await deliverTo(receiver.url, { timing: { exchangeMs: 2_000 } });
    expect(await ended(state)).toMatchObject([attempt]);
    await expect.poll(() => receiver.open).toBe(0);
    // An error that nobody hears would end the process about now.
    await pause(40);
  });

  test("sends a gigabyte costs two kilobytes and what is in the sockets", async () => {
    const counted = { bytes: 0 };
    const receiver = using(await openRawReceiver(flood("HTTP/1.1 200 OK\r\n\r\n", counted)));
    const { ended } = await deliverTo(receiver.url);
    expect((await ended("delivered"))[0]?.response_body).toBe("x".repeat(2_048));
    await expect.poll(() => receiver.open).toBe(0);
    expect(counted.bytes).toBeLessThan(64 << 20);
  });
});

describe("a name", () => {
  test("is looked up once for an attempt, and connected to at the address that was checked", async () => {
    const receiver = using(await openReceiver());
    const asked: string[] = [];
    const guard = openGuard(async (name) => {
      asked.push(name);
      return [{ address: "127.0.0.1", family: 4 }];
    });
    const { ended } = await deliverTo(`http://hooks.example.org.:${receiver.port}/a?b=c`, { guard });
    await ended("delivered");
    expect(asked).toEqual(["hooks.example.org"]);
    expect(receiver.received[0]?.headers.host).toBe(`hooks.example.org:${receiver.port}`);
  });

  test("that leads to a private address by the time of a delivery is not connected to", async () => {
    const receiver = using(await openReceiver());
    const answers = [["93.184.216.34"], ["93.184.216.34", "127.0.0.1"], ["::ffff:7f00:1"], ["127.0.0.1"]];
    let asked = 0;
    const guard = createAddressGuard({ allowPrivateNetworks: false }, async () =>
      (answers[asked++] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
    const url = `http://hooks.example.org:${receiver.port}/`;
    expect(await guard.faultNow(url)).toBeUndefined();
    const { clock, read, attempted } = await deliverTo(url, { guard });
    await attempted(1);
    for (const nth of [2, 3]) {
      clock.advance(360_000);
      await attempted(nth);
    }
    const refused =
      "The URL must not point to hooks.example.org, which has an address outside the public internet.";
    expect((await read()).attempts.map(({ error }) => error)).toEqual([refused, refused, refused]);
    expect(receiver.connections).toBe(0);
  });

  test("takes no longer than anything else when its name servers never answer", async () => {
    const guard = openGuard(() => new Promise(() => undefined));
    const { read, attempted } = await deliverTo("http://hooks.example.org/", {
      guard,
      timing: { exchangeMs: SLOW_MS },
    });
    await attempted(1);
    expect((await read()).attempts).toMatchObject([{ error: "The receiver did not respond in time." }]);
  });
});

test("an address that was allowed once is refused when it is not any more", async () => {
  const receiver = using(await openReceiver());
  const guard = createAddressGuard({ allowPrivateNetworks: false }, () =>
    Promise.reject(new Error("no names")),
  );
  const { read, attempted } = await deliverTo(receiver.url, { guard });
  await attempted(1);
  expect((await read()).attempts[0]?.error).toContain("must not point to 127.0.0.1");
  expect(receiver.connections).toBe(0);
});

test("proxies of the environment are not asked", async () => {
  const [proxy, receiver] = [using(await openReceiver()), using(await openReceiver())];
  const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY", "NODE_USE_ENV_PROXY"];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) process.env[name] = proxy.url;
  const { ended } = await deliverTo(receiver.url);
  await ended("delivered");
  for (const [name, value] of before) {
    delete process.env[name];
    Object.assign(process.env, value === undefined ? {} : { [name]: value });
  }
  expect([proxy.connections, receiver.connections]).toEqual([0, 1]);
});

test("a receiver that is unreachable is tried again after each delay at the soonest, by the clock on the wall", async () => {
  const port = await closedPort();
  const webhook = await addWebhook(`http://127.0.0.1:${port}/`);
  await enqueue();
  startWorker({ timing: { delaysMs: [150, 300, 600] } });
  await expect.poll(() => statesOf(webhook.id)).toEqual(["failed"]);
  const times = outcomes.map(({ startedAt }) => startedAt.getTime());
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps).toHaveLength(3);
  for (const [index, least] of [150, 300, 600].entries()) expect(gaps[index]).toBeGreaterThanOrEqual(least);
});

/** A receiver with a certificate that nobody vouches for. */
async function openSelfSigned(): Promise<AsyncDisposable & { url: string }> {
  const folder = mkdtempSync(join(tmpdir(), "toolchain-webhooks-"));
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const args =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1";
  execFileSync("openssl", [...args.split(" "), "-keyout", keyFile, "-out", certificateFile], {
    stdio: "ignore",
  });
  const server = createHttpsServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) });
  rmSync(folder, { recursive: true });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
