import { randomUUID } from "node:crypto";
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { SAFE_HEADERS } from "../../../api/base/http/middleware/browser-security.js";
import { Problem, type ProblemCode } from "../../../schemas/problem.js";

interface RefusedBytes extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
}

/** In the usual shape of errors. When another answer was already started, only closes the connection. */
export function answerUnparsed(error: RefusedBytes, socket: Duplex, log?: Logger): void {
  if (error.code === "ECONNRESET" || !socket.writable || hasStartedAnswer(socket)) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refusalOf(problemOf(error));
  // Not the error: it holds the bytes of the request, a token among them, and its trace says nothing.
  const { code, message } = error;
  log?.info(
    { requestId: headers["X-Request-Id"], status, code, reason: message },
    "the HTTP parser rejected a request",
  );
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n`;
  socket.end(isHead(error) ? head : head + body);
  socket.once("finish", () => socket.destroy());
}

/** After a HEAD, a client would take a body for another answer. */
function isHead({ rawPacket }: RefusedBytes): boolean {
  return rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
}

/** Requests of which a proxy could understand another host or another end (RFC 9112, 3.2 and 6.1). */
export function answerAmbiguous(request: IncomingMessage, response: ServerResponse): boolean {
  const fault = ambiguityOf(request);
  if (fault === undefined) return false;
  const { status, headers, body } = refusalOf(new Problem("malformed-request", fault));
  response.writeHead(status, headers).end(body);
  return true;
}

function ambiguityOf({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined) return httpVersion === "1.1" ? "The Host header is missing." : undefined;
  const { "transfer-encoding": coding = "chunked" } = headers;
  if (coding.toLowerCase() !== "chunked") return "This Transfer-Encoding is not supported. Use chunked.";
  let hosts = 0;
  // Node keeps the first of several.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1 ? "The request has more than one Host header." : undefined;
}

function problemOf({ code = "" }: NodeJS.ErrnoException): Problem {
  const [named, message] =
    PROBLEM_BY_CODE[code] ?? (["malformed-request", "The request is not valid HTTP."] as const);
  return new Problem(named, message);
}

const PROBLEM_BY_CODE: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers-too-large", "The request's headers are too large."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["too-large", "The chunk extensions of the body are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request-timeout", "The request's headers were not received in time."],
};

function refusalOf({ status, code, message }: Problem) {
  const body = JSON.stringify({ code, message });
  const headers = {
    ...SAFE_HEADERS,
    "X-Request-Id": randomUUID(),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
  };
  return { status, headers, body };
}

/** Node's own handler of these errors also reads the current answer from its connection. */
function hasStartedAnswer(socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}
