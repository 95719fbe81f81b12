import assert from "node:assert/strict";
import fc from "fast-check";
import { settlesWithin } from "../../../schemas/async/pause.js";
import { openBareSocket } from "../../support/imports/open-upload.js";
import type { FuzzTarget } from "../fuzz-world.js";
import { hostileText, sometimesDamaged } from "../values.js";

interface Input {
  port: "api" | "collect" | "metrics";
  text: string;
}

/** A sender that has ended is not waited for. */
const CLOSED_MS_MAX = 20_000;
/** The version of HTTP, or a transfer coding, that no server here has. */
const NOT_IMPLEMENTED = ["501", "505"];

/** Bytes that no HTTP client would send, on every port: they are refused or ignored, and the connection is closed. */
export const rawBytes: FuzzTarget<Input> = {
  name: "raw-bytes",
  runs: 60,
  async open({ program: { endpoints }, sent }) {
    return {
      inputs: fc.record({
        port: fc.constantFrom("api", "collect", "metrics"),
        text: sometimesDamaged(sometimesDamaged(request)),
      }),
      async attempt({ port, text }) {
        sent.requests += 1;
        const socket = await openBareSocket(endpoints[port] ?? "");
        await socket.send(Buffer.from(text, "latin1"));
        socket.end();
        const isClosed = await settlesWithin(socket.closed, CLOSED_MS_MAX);
        socket.breakOff();
        assert.ok(isClosed, "the connection stays open");
        const statuses = [...socket.answered().matchAll(/^HTTP\/1\.1 (5\d\d)/gm)].map(
          ([, status = ""]) => status,
        );
        assert.deepEqual(
          statuses.filter((status) => !NOT_IMPLEMENTED.includes(status)),
          [],
        );
      },
      close: () => Promise.resolve(),
    };
  },
};

const headerLine = fc.oneof(
  fc.constantFrom(
    ...["Host: a", "Host: b"],
    ...["5", "0", "-1", "99999999999999999999"].map((length) => `Content-Length: ${length}`),
    ...["Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked"],
    ...["Connection: close", "Connection: upgrade", "Upgrade: h2c", "Expect: 100-continue", "Expect: x"],
    ...["Authorization: Bearer mtk_x", "Content-Encoding: br", "X-Forwarded-For: ,,", " folded"],
  ),
  fc.tuple(hostileText, hostileText).map((pair) => pair.join(": ")),
);

const request = fc
  .record({
    method: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom("GET", "POST", "PUT", "HEAD", "CONNECT", "PRI") },
      { weight: 1, arbitrary: hostileText },
    ),
    path: fc.oneof(
      fc.constantFrom("/", "/healthz", "/metrics", "/v2/", "/v2/x/import", "/a.png", "/dashboard/", "*"),
      hostileText,
    ),
    version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.1", "HTTP/9.9", ""),
    headers: fc.array(headerLine, { maxLength: 5 }),
    body: fc.oneof(
      fc.constantFrom("", "5\r\nhello\r\n0\r\n\r\n", "hello", "GET / HTTP/1.1\r\n\r\n"),
      hostileText,
    ),
    end: fc.constantFrom("\r\n", "\r\n", "\n"),
  })
  .map(({ method, path, version, headers, body, end }) =>
    [`${method} ${path} ${version}`, ...headers, "", body].join(end),
  );
