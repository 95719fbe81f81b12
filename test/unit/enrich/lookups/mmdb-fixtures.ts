import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The source of an MMDB fixture: the answer for one network. */
export interface ExpectedNetwork {
  network: string;
  /** First and last address of the network, IPv4 where it lies in the IPv4 part of the tree. */
  addresses: [string, string];
  record: Record<string, unknown>;
}

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../../fixtures/mmdb/${name}`, import.meta.url));
}

/** Every network of `<name>.json`. */
export function expectedNetworks(name: string): ExpectedNetwork[] {
  const entries = JSON.parse(readFileSync(fixturePath(`${name}.json`), "utf8")) as Record<string, object>[];
  return entries.flatMap((entry) =>
    Object.entries(entry).map(([network, record]) => ({
      network,
      addresses: boundsOf(network),
      record: record as Record<string, unknown>,
    })),
  );
}

function boundsOf(network: string): [string, string] {
  const [address = "", prefix = "0"] = network.split("/");
  const isIpv4 = !address.includes(":");
  const value = isIpv4 ? dotted(address) : colons(address);
  const host = (1n << BigInt((isIpv4 ? 32 : 128) - Number(prefix))) - 1n;
  return [textOf(value, isIpv4), textOf(value | host, isIpv4)];
}

function dotted(text: string): bigint {
  return text.split(".").reduce((value, octet) => value * 256n + BigInt(octet), 0n);
}

function colons(text: string): bigint {
  const mapped = text.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const value = dotted(tail);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  });
  const [left = "", right = ""] = mapped.split("::");
  const head = left.split(":").filter(Boolean);
  const tail = right.split(":").filter(Boolean);
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function textOf(value: bigint, isIpv4: boolean): string {
  const parts = (width: bigint, count: number, radix: number) =>
    Array.from({ length: count }, (_, index) =>
      ((value >> (width * BigInt(count - 1 - index))) & ((1n << width) - 1n)).toString(radix),
    );
  if (isIpv4 || value < 1n << 32n) return parts(8n, 4, 10).join(".");
  return parts(16n, 8, 16).join(":");
}
