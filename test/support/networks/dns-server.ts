import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A DNS server on this machine that knows some TXT records. */
export interface TestDns extends AsyncDisposable {
  /** For `DNS_SERVERS`. */
  readonly address: string;
  /** Texts by name. */
  readonly records: Map<string, string[]>;
  /** Names that were asked for, in order. */
  readonly asked: string[];
  /** Answers every question with SERVFAIL. */
  isBroken: boolean;
}

const HEADER_BYTES = 12;
const TXT = 16;
const NXDOMAIN = 3;
const SERVFAIL = 2;

/** Answers by RFC 1035, 4.1, as much of it as a resolver needs. */
export async function openTestDns(): Promise<TestDns> {
  const socket = createSocket("udp4");
  const records = new Map<string, string[]>();
  const dns = { records, asked: [] as string[], isBroken: false };
  socket.on("message", (question, { port, address }) => {
    const { name, end } = nameIn(question);
    dns.asked.push(name);
    const texts = records.get(name);
    const code = dns.isBroken ? SERVFAIL : texts === undefined ? NXDOMAIN : 0;
    const answers = code === 0 ? (texts ?? []).map(answerOf) : [];
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt32BE(0, 8);
    // After the name: its type and class.
    const asked = question.subarray(HEADER_BYTES, end + 4);
    socket.send(Buffer.concat([header, asked, ...answers]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return Object.assign(dns, {
    address: `127.0.0.1:${socket.address().port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => socket.close(() => closed())),
  });
}

function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

/** A record of the name that was asked for, for no time. */
function answerOf(text: string): Buffer {
  const data = Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
  const fields = Buffer.alloc(12);
  fields.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  fields.writeUInt16BE(TXT, 2);
  fields.writeUInt16BE(1, 4);
  fields.writeUInt16BE(data.length, 10);
  return Buffer.concat([fields, data]);
}
