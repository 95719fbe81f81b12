import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AsnTable, readAsnOwner } from "../../../enrich/lookups/networks/asn-table.js";
import { parseAsnCsv } from "../../../enrich/lookups/networks/parse-asn-csv.js";

/** An AS of the bundled table. */
export interface BundledNetwork {
  asn: number;
  organization: string;
  /** IPv4 addresses that it announces; IPv6 space says nothing about size. */
  addresses: number;
  /** Its ranges, IPv4 and IPv6. */
  ranges: number;
}

export function readBundledTable(): AsnTable {
  const resolve = createRequire(import.meta.url).resolve;
  const paths = ["asn-ipv4-num.csv", "asn-ipv6.csv"].map((name) => resolve(`@ip-location-db/asn/${name}`));
  return parseAsnCsv(paths.map((path) => ({ path, bytes: readFileSync(path) })));
}

export function readBundledNetworks(): BundledNetwork[] {
  const table = readBundledTable();
  const addresses = new Float64Array(table.numbers.length);
  const ranges = new Uint32Array(table.numbers.length);
  const { starts, ends, owners } = table.ipv4;
  owners.forEach((owner, row) => (addresses[owner]! += ends[row]! - starts[row]! + 1));
  for (const each of [table.ipv4, table.ipv6]) each.owners.forEach((owner) => ranges[owner]!++);
  return Array.from(table.numbers, (_, owner) => ({
    ...readAsnOwner(table, owner),
    addresses: addresses[owner]!,
    ranges: ranges[owner]!,
  }));
}
