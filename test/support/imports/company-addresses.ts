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

const COMPANY_KINDS = ["business", "education", "government"];

/** The first address of each AS number. */
function readAddresses(): Map<number, string> {
  const file = createRequire(import.meta.url).resolve("@ip-location-db/asn/asn-ipv4.csv");
  const addresses = new Map<number, string>();
  for (const [, address = "", asn] of readFileSync(file, "utf8").matchAll(/^([\d.]+),[\d.]+,(\d+),/gm))
    if (!addresses.has(Number(asn))) addresses.set(Number(asn), address);
  return addresses;
}
