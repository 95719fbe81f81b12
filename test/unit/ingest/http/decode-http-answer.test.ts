import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HttpAnswerDecoder, type ExpectedAnswer } from "../../../../ingest/http/decode-http-answer.js";

/** Hands the bytes to a decoder in pieces that end at these places. */
function decode(text: string, places: readonly number[] = [], answer: ExpectedAnswer = {}) {
  const bytes = Buffer.from(text, "latin1");
  const decoder = new HttpAnswerDecoder(answer);
  const ends = [...new Set([...places.map((place) => place % bytes.length), bytes.length])];
  const body: Buffer[] = [];
  let from = 0;
  for (const end of ends.sort((a, b) => a - b)) {
    body.push(...decoder.decode(bytes.subarray(from, end)).map((part) => Buffer.from(part)));
    from = end;
  }
  return { head: decoder.head, isComplete: decoder.isComplete, body: Buffer.concat(body).toString("latin1") };
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Tag:  a b \r\n\r\n";
const chunksOf = (parts: readonly string[]) =>
  parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");

const parts = fc.array(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }), { maxLength: 8 });
const places = fc.array(fc.nat(), { maxLength: 30 });

describe("an answer", () => {
  test("in chunks is what its chunks hold, however it comes in", () => {
    fc.assert(
      fc.property(parts, places, (chunks, at) => {
        expect(decode(`${CHUNKED}${chunksOf(chunks)}0\r\n\r\n`, at)).toMatchObject({
          head: { status: 200, headers: { "transfer-encoding": "chunked", "x-tag": "a b" } },
          isComplete: true,
          body: chunks.join(""),
        });
      }),
    );
  });

  test("with a known length is so many bytes, however it comes in", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 60 }), places, (body, at) => {
        const text = `HTTP/1.1 404 Not Found\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
        expect(decode(text, at)).toMatchObject({ head: { status: 404 }, isComplete: true, body });
      }),
    );
  });

  test("that is cut anywhere is not complete", () => {
    const whole = `${CHUNKED}${chunksOf(["one\r\n", "0\r\n\r\n"])}0\r\n\r\n`;
    for (let end = 1; end < whole.length; end += 1)
      expect(decode(whole.slice(0, end)).isComplete).toBe(false);
  });

  test("may have extensions to its chunks, and trailers", () => {
    const text = `${CHUNKED}3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`;
    expect(decode(text)).toMatchObject({ isComplete: true, body: "abc" });
  });
});

test.each([
  ["HTTP/1.0 200 OK\r\n\r\n", "not HTTP/1.1"],
  ["\x15\x03\x03\x00\x02\n", "not HTTP/1.1"],
  ["HTTP/1.1 100 Continue\r\n\r\n", "not HTTP/1.1"],
  ["HTTP/1.1 200 OK\r\nno header\r\n", "not HTTP/1.1"],
  ["HTTP/1.1 200 OK\r\n\r\nrows until the end", "no valid Content-Length"],
  ["HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "no valid Content-Length"],
  ["HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "no valid Content-Length"],
  [`${CHUNKED}Code: 241. DB::Exception\r\n`, "no size"],
  [`${CHUNKED}-1\r\n`, "no size"],
  [`${CHUNKED}\r\n`, "no size"],
  [`${CHUNKED}3\r\nabcd\r\n`, "does not match its size"],
  [`${CHUNKED}0\r\n\r\nHTTP/1.1 200 OK\r\n`, "data after the response"],
  [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}`, "too long"],
  [`HTTP/1.1 200 OK\r\n${`X: ${"x".repeat(1_000)}\r\n`.repeat(70)}`, "too long"],
  [`HTTP/1.1 200 OK\r\n${"X: x\r\n".repeat(201)}`, "not HTTP/1.1"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n", "more than once"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", "more than once"],
  ["HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "unknown transfer coding"],
  ["HTTP/1.1 200 OK\r\nX-(a): 1\r\n", "not HTTP/1.1"],
  ["HTTP/1.1 200 OK\r\nX: 1\rSet-Cookie: 2\r\n", "not HTTP/1.1"],
])("%j is refused", (text, reason) => {
  expect(() => decode(text)).toThrow(reason);
});

describe("an answer for a client that takes more", () => {
  const lenient = { isLenient: true };
  test("may end with its connection, and be of an older server", () => {
    const got = decode("HTTP/1.0 200 OK\r\nServer: a\r\n\r\nall of it", [3, 40], lenient);
    expect(got).toMatchObject({ head: { status: 200 }, isComplete: false, body: "all of it" });
  });

  test("may follow interim ones", () => {
    const text = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    const { head, isComplete, body } = decode(text, [], lenient);
    expect([head?.values, isComplete, body]).toEqual([{ "content-length": ["1"] }, true, "x"]);
  });

  test("may not change the protocol", () => {
    expect(() => decode("HTTP/1.1 101 Switching Protocols\r\n\r\n", [], lenient)).toThrow("not HTTP/1.1");
  });
});

test.each([
  ["to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", { isWithoutBody: true }],
  ["that is not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {}],
])("an answer %s has no body", (_, text, answer) => {
  expect(decode(text, [], answer)).toMatchObject({ isComplete: true, body: "" });
});

test("all values of a header are kept", () => {
  const { head } = decode("HTTP/1.1 401 Unauthorized\r\nA: 1\r\na: 2\r\nContent-Length: 0\r\n\r\n");
  expect(head).toMatchObject({ headers: { a: "2" }, values: { a: ["1", "2"], "content-length": ["0"] } });
});
