import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createLog } from "../../../../../deploy/process/log.js";
import { answerUnparsed } from "../../../../../deploy/roles/servers/answer-unparsed.js";

test("logs why a request was refused in a short line, without its bytes", async () => {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    destination: { write: (line) => void lines.push(line) },
  });
  const rawPacket = Buffer.from(
    `GET / HTTP/1.1\r\nAuthorization: Bearer mtk_hidden\r\n${"x".repeat(10_000)}`,
  );
  const error = Object.assign(new Error("Parse Error: Invalid header token"), {
    code: "HPE_INVALID_HEADER_TOKEN",
    rawPacket,
  });
  const socket = new PassThrough();
  answerUnparsed(error, socket, log);
  expect(await text(socket)).toContain('{"code":"malformed-request"');
  expect(JSON.parse(lines.join(""))).toMatchObject({
    status: 400,
    code: "HPE_INVALID_HEADER_TOKEN",
    reason: "Parse Error: Invalid header token",
  });
  expect(lines.join("").length).toBeLessThan(400);
});

test.each([
  ["GET", /\r\n\r\n\{"code":"malformed-request"/],
  ["HEAD", /\r\nContent-Length: \d+\r\nConnection: close\r\n\r\n$/],
])("answers a refused %s as its client can read it: with HEAD, without a body", async (method, answer) => {
  const error = Object.assign(new Error("Parse Error"), {
    rawPacket: Buffer.from(`${method} /\x85 HTTP/1.1\r\n`),
  });
  const socket = new PassThrough();
  answerUnparsed(error, socket);
  expect(await text(socket)).toMatch(answer);
});
