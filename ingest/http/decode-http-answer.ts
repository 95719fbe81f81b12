import type { ClientRequest } from "node:http";

export interface AnswerHead {
  status: number;
  /** Names in lower case. A repeated name has its last value. */
  headers: Readonly<Record<string, string>>;
  /** All values of each name. */
  values: Readonly<Record<string, string[]>>;
}

export interface ExpectedAnswer {
  /** The answer to HEAD has headers about a body, and no body. */
  isWithoutBody?: boolean;
  /** Takes an older server's answer, and one whose body ends with its connection, perhaps cut off. */
  isLenient?: boolean;
}

/** The next element of the answer. `gap`: the line end after a chunk's data. */
type Expected = "status" | "header" | "size" | "data" | "gap" | "trailer" | "nothing";

const NEWLINE = 0x0a;
/** Also of all lines before the body together. */
const LINE_LENGTH_MAX = 64 * 1024;
/** Repeated names count each time. */
const HEADERS_MAX = 200;

/** A name is a token, and a value has no control characters (RFC 9110, 5.1 and 5.5). */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * Takes pieces of any size. Throws for bytes that are not a well-formed chunk, because a server that fails
 * within an answer may append anything. Source: RFC 9112.
 */
export class HttpAnswerDecoder {
  /** Undefined until all headers have arrived. */
  head: AnswerHead | undefined;
  private isChunked = false;
  private expected: Expected = "status";
  private status = 0;
  private readonly values = new Map<string, string[]>();
  /** The characters and the headers so far, interim answers included. */
  private headLength = 0;
  private headers = 0;
  private line = "";
  /** The missing bytes of the body, or of its current chunk. */
  private left = 0;

  constructor(private readonly answer: ExpectedAnswer = {}) {}

  get isComplete(): boolean {
    return this.expected === "nothing";
  }

  /** Whether only the end of the connection ends the body. */
  get isEndless(): boolean {
    return this.left === Infinity;
  }

  /** Returns the parts of the body as views of `bytes`. Throws for a malformed answer. */
  decode(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.expected !== "data") {
        at = this.takeLine(bytes, at);
        continue;
      }
      const part = bytes.subarray(at, at + this.left);
      parts.push(part);
      at += part.length;
      this.left -= part.length;
      if (this.left === 0) this.expected = this.isChunked ? "gap" : "nothing";
    }
    return parts;
  }

  /** Returns the index after the line. */
  private takeLine(bytes: Buffer, from: number): number {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    this.line += bytes.toString("latin1", from, end);
    if (this.line.length > LINE_LENGTH_MAX) throw new Error("a line of the response is too long");
    if (newline < 0) return end;
    if (this.head === undefined) this.headLength += this.line.length;
    if (this.headLength > LINE_LENGTH_MAX) throw new Error("the headers of the response are too long");
    const line = this.line.endsWith("\r") ? this.line.slice(0, -1) : this.line;
    this.line = "";
    this.expected = this.readLine(line);
    return newline + 1;
  }

  private readLine(line: string): Expected {
    switch (this.expected) {
      case "status":
        this.status = this.readStatus(line);
        return "header";
      case "header":
        return line === "" ? this.endHead() : this.readHeader(line);
      case "size":
        if (!/^[0-9a-f]{1,8}(\s*;.*)?$/i.test(line)) throw new Error("a chunk of the response has no size");
        this.left = Number.parseInt(line, 16);
        return this.left === 0 ? "trailer" : "data";
      case "gap":
        if (line !== "") throw new Error("a chunk of the response does not match its size");
        return "size";
      case "trailer":
        return line === "" ? "nothing" : "trailer";
      case "data":
      case "nothing":
        throw new Error("there is data after the response");
    }
  }

  private readStatus(line: string): number {
    const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})( |$)/.exec(line) ?? [];
    const isKnown = minor === "1" || (minor === "0" && this.answer.isLenient === true);
    const first = this.answer.isLenient === true ? 102 : 200;
    if (!isKnown || !(Number(status) >= first)) throw new Error("the response is not HTTP/1.1");
    return Number(status);
  }

  private readHeader(line: string): Expected {
    const [, name, value = ""] = HEADER.exec(line) ?? [];
    if (name === undefined || this.headers++ === HEADERS_MAX) throw new Error("the response is not HTTP/1.1");
    const key = name.toLowerCase();
    const known = this.values.get(key);
    if (known === undefined) this.values.set(key, [withoutSpace(value)]);
    else known.push(withoutSpace(value));
    return "header";
  }

  private endHead(): Expected {
    // An interim answer, before the answer itself (RFC 9110, 15.2).
    if (this.status < 200) {
      this.values.clear();
      return "status";
    }
    const headers = Object.fromEntries([...this.values].map(([name, values]) => [name, values.at(-1) ?? ""]));
    this.head = { status: this.status, headers, values: Object.fromEntries(this.values) };
    // RFC 9112, 6.3: two lengths are an attempt to make one answer look like two further down the line.
    const ways = [
      ...(this.values.get("transfer-encoding") ?? []),
      ...(this.values.get("content-length") ?? []),
    ];
    if (ways.length > 1) throw new Error("the response declares its length more than once");
    if (this.answer.isWithoutBody === true || this.status === 204 || this.status === 304) return "nothing";
    this.isChunked = headers["transfer-encoding"]?.toLowerCase() === "chunked";
    if (this.isChunked) return "size";
    if (headers["transfer-encoding"] !== undefined)
      throw new Error("the response uses an unknown transfer coding");
    const length = headers["content-length"];
    if (length === undefined && this.answer.isLenient === true) {
      this.left = Infinity;
      return "data";
    }
    // An answer without a length ends with its connection, and cannot be told from one that was cut off.
    if (!/^\d{1,15}$/.test(length ?? "")) throw new Error("the response has no valid Content-Length");
    this.left = Number(length);
    return this.left === 0 ? "nothing" : "data";
  }
}

/** Without spaces and tabs around it. An expression would take quadratic time for many spaces within. */
function withoutSpace(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isSpace(value[from])) from++;
  while (from < to && isSpace(value[to - 1])) to--;
  return value.slice(from, to);
}

function isSpace(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

const INTERIM_ANSWERS_MAX = 10;

/**
 * Ends the request after 10 answers like 103: each takes time to parse, and a hostile server may never stop.
 */
export function limitInterimAnswers(request: ClientRequest, errorOf: (reason: string) => Error): void {
  let interim = 0;
  request.on("information", () => {
    if (++interim > INTERIM_ANSWERS_MAX) request.destroy(errorOf("sends too many interim responses"));
  });
}
