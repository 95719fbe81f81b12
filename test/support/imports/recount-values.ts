import { isIPv4, isIPv6 } from "node:net";

/** A `$time` in milliseconds since the epoch, or undefined where it is no time or out of range. */
export function timeOf(value: unknown, receivedAt: number): number | undefined {
  const time =
    typeof value === "number" ? fromUnix(value) : typeof value === "string" ? fromText(value) : NaN;
  return time >= 0 && time <= receivedAt + 86_400_000 ? time : undefined;
}

/** One text per address, empty for what is none. An IPv4 address within IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return "";
  const address = new URL(`http://[${text.replace(/%.*/, "")}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const bytes = Buffer.from(
    mapped
      .slice(1)
      .map((group) => group.padStart(4, "0"))
      .join(""),
    "hex",
  );
  return bytes.join(".");
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

function fromUnix(value: number): number {
  if (value < 0) return NaN;
  return value < 1e11 ? Math.floor(value * 1000) : Math.floor(value);
}

function fromText(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return fromUnix(Number(text));
  const match = ISO.exec(text);
  if (match === null) return NaN;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  if (hour > 23 || minute > 59 || second > 60) return NaN;
  const fraction = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offsetMs(match[8] ?? "Z");
}

type Six = [number, number, number, number, number, number];

function offsetMs(zone: string): number {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return NaN;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
