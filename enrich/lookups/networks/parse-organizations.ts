import { ORGANIZATION_KINDS } from "./network-facts.js";
import type { OrganizationKind } from "./network-facts.js";

/** One row of `enrich/data/organizations.csv`: a curated network. */
export interface Organization {
  asn: number;
  name: string;
  domain: string;
  kind: OrganizationKind;
  /** A word that the ASN database's name for `asn` must hold, where `name` shares none with it. */
  match: string;
}

/** Reads the curated table: `asn,name,domain,kind,match`, no quotes, lines that start with # are comments. */
export function parseOrganizations(text: string): Organization[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  return lines
    .filter(({ line }) => line !== "" && !line.startsWith("#") && !line.startsWith("asn,"))
    .map(({ line, number }) => parseRow(line, number));
}

function parseRow(line: string, number: number): Organization {
  const [asn = "", name = "", domain = "", kind = "", match = ""] = line.split(",");
  if (!/^\d{1,10}$/.test(asn) || name === "" || domain === "" || !isKind(kind)) {
    throw new Error(`organizations.csv: line ${number} is not asn,name,domain,kind,match`);
  }
  return { asn: Number(asn), name, domain, kind, match };
}

function isKind(kind: string): kind is OrganizationKind {
  return (ORGANIZATION_KINDS as readonly string[]).includes(kind);
}
