import { createServer, type AddressInfo, type Socket } from "node:net";

export interface ReceivedMail {
  to: string[];
  /** Unfolded, by lower-case name. */
  headers: Record<string, string>;
  /** Decoded, by type. */
  parts: Record<string, string>;
}

export interface SmtpReceiver extends AsyncDisposable {
  url: string;
  mails: ReceivedMail[];
  /** Called at each step; its answer replaces the server's own. */
  onStep: (step: "connect" | "rcpt" | "data", mails: readonly ReceivedMail[]) => string | undefined | void;
}

/** As much of a mail server as takes a mail (RFC 5321), on a free port of this machine. */
export async function openSmtpReceiver(): Promise<SmtpReceiver> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
    converse(socket, receiver);
  });
  const receiver: SmtpReceiver = {
    url: "",
    mails: [],
    onStep: () => undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  receiver.url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

function converse(socket: Socket, receiver: SmtpReceiver): void {
  let text = "";
  let to: string[] = [];
  let isData = false;
  const say = (line: string) => void socket.write(`${line}\r\n`);
  say(receiver.onStep("connect", receiver.mails) || "220 receiver");
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    for (;;) {
      const end = text.indexOf(isData ? "\r\n.\r\n" : "\r\n");
      if (end < 0) return;
      const line = text.slice(0, end);
      text = text.slice(end + (isData ? 5 : 2));
      if (isData) {
        receiver.mails.push({ to, ...readMail(line.replaceAll("\r\n..", "\r\n.")) });
        [isData, to] = [false, []];
        say(receiver.onStep("data", receiver.mails) || "250 taken");
      } else if (/^DATA/i.test(line)) {
        isData = true;
        say("354 go on");
      } else if (/^RCPT/i.test(line)) {
        to.push(/<(.*)>/.exec(line)?.[1] ?? "");
        say(receiver.onStep("rcpt", receiver.mails) || "250 ok");
      } else if (/^QUIT/i.test(line)) {
        say("221 bye");
        socket.end();
      } else say("250 ok");
    }
  });
}

function readMail(source: string): Pick<ReceivedMail, "headers" | "parts"> {
  const { headers, body } = split(source);
  const boundary = /boundary="?([^";]+)/.exec(headers["content-type"] ?? "")?.[1] ?? "none";
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, "")))
    .map((part) => {
      const type = part.headers["content-type"]?.split(";", 1)[0] ?? "";
      return [type, decoded(part.body, part.headers["content-transfer-encoding"])] as const;
    });
  return { headers, parts: Object.fromEntries(parts) };
}

function split(source: string): { headers: Record<string, string>; body: string } {
  const end = source.indexOf("\r\n\r\n");
  const lines = source
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), decodedWords(line.slice(colon + 1).trim())] as const;
  });
  return { headers: Object.fromEntries(headers), body: source.slice(end + 4) };
}

/** RFC 2047, of UTF-8 in the form `Q`. */
function decodedWords(text: string): string {
  return text
    .replaceAll("?= =?", "?==?")
    .replace(/=\?UTF-8\?Q\?([^?]*)\?=/gi, (_, word: string) =>
      decoded(word.replaceAll("_", " "), "quoted-printable"),
    );
}

function decoded(body: string, encoding = "7bit"): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
