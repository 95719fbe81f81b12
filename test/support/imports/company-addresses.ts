import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadBundledOrganizations } from "../../../enrich/lookups/load-lookup-data.js";

/** A company that enrichment knows by its network. */
export interface KnownCompany {
  domain: string;
  name: string;
  /** One of its IPv4 addresses. */
  address: string;
}

/** Every company that the bundled table knows by an AS number and that announces IPv4 addresses, in its order. */
export async function readCompanyAddresses(): Promise<KnownCompany[]> {
  const addresses = readAddresses();
  const companies = (await loadBundledOrganizations()).filter(({ kind }) => COMPANY_KINDS.includes(kind));
  return companies.flatMap(({ name, domain, numbers }) => {
    const address = numbers.map((asn) => addresses.get(asn)).find((each) => each !== undefined);
    return address === undefined ? [] : [{ domain, name, address }];
  });
}

/** The first company whose network is in a table like the bundled one, such as that of a program with few networks. */
export async function readCompanyOf(path: string): Promise<KnownCompany> {
  const rows = readFileSync(path, "utf8").matchAll(/^(\d+),\d+,(\d+),/gm);
  const addresses = new Map([...rows].map(([, start, asn]) => [Number(asn), dotted(Number(start))]));
  const companies = (await loadBundledOrganizations()).filter(({ kind }) => COMPANY_KINDS.includes(kind));
  for (const { name, domain, numbers } of companies) {
    const address = numbers.map((asn) => addresses.get(asn)).find((each) => each !== undefined);
    if (address !== undefined && domain !== "") return { name, domain, address };
  }
  throw new Error("the table has no network of a company");
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((bits) => (address >>> bits) & 255).join(".");
}

const COMPANY_KINDS = ["business", "education", "government"];

/** The first address of each AS number. */
function readAddresses(): Map<number, string> {
  const file = createRequire(import.meta.url).resolve("@ip-location-db/asn/asn-ipv4.csv");
  const addresses = new Map<number, string>();
  for (const [, address = "", asn] of readFileSync(file, "utf8").matchAll(/^([\d.]+),[\d.]+,(\d+),/gm))
    if (!addresses.has(Number(asn))) addresses.set(Number(asn), address);
  return addresses;
}
