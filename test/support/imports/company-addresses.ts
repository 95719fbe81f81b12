import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseOrganizations } from "../../../enrich/lookups/networks/parse-organizations.js";
import { assetUrl } from "../../../schemas/asset.js";

/** A company that enrichment knows by its network. */
export interface KnownCompany {
  domain: string;
  name: string;
  /** One of its IPv4 addresses. */
  address: string;
}

/** Every company of the curated table that announces IPv4 addresses, by domain, in the order of the table. */
export function readCompanyAddresses(): KnownCompany[] {
  const addresses = readAddresses();
  const companies = new Map<string, KnownCompany>();
  for (const { asn, name, domain, kind } of parseOrganizations(readText("enrich/data/organizations.csv"))) {
    const address = addresses.get(asn);
    if (address !== undefined && COMPANY_KINDS.includes(kind) && !companies.has(domain))
      companies.set(domain, { domain, name, address });
  }
  return [...companies.values()];
}

const COMPANY_KINDS = ["business", "education", "government"];

const readText = (path: string) => readFileSync(assetUrl(path), "utf8");

/** The first address of each AS number. */
function readAddresses(): Map<number, string> {
  const file = createRequire(import.meta.url).resolve("@ip-location-db/asn/asn-ipv4.csv");
  const addresses = new Map<number, string>();
  for (const [, address = "", asn] of readFileSync(file, "utf8").matchAll(/^([\d.]+),[\d.]+,(\d+),/gm))
    if (!addresses.has(Number(asn))) addresses.set(Number(asn), address);
  return addresses;
}
