import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { StartFailure } from "./start-failure.js";

/** The stores that may be elsewhere, by the first word of their variables. */
const TLS_STORES = ["DATABASE", "CLICKHOUSE", "KAFKA"] as const;
export type TlsStore = (typeof TLS_STORES)[number];

/** Paths of PEM files. Without `ca` the system's authorities decide; without `cert` and `key` the program shows no certificate. */
export interface TlsFiles {
  ca?: string;
  cert?: string;
  key?: string;
}

/** The contents of these files, as Node takes them. */
export type TlsOptions = TlsFiles;

export type TlsVariable<Store extends TlsStore> = `${Store}_TLS_${"CA" | "CERT" | "KEY"}`;
/** The values of these variables, among others. */
type TlsVariables = { readonly [Name in TlsVariable<TlsStore>]?: string | undefined };

/** Undefined where no file is given. */
export function tlsFiles(variables: TlsVariables, store: TlsStore): TlsFiles | undefined {
  const { ca, cert, key } = {
    ca: variables[`${store}_TLS_CA`],
    cert: variables[`${store}_TLS_CERT`],
    key: variables[`${store}_TLS_KEY`],
  };
  if (ca === undefined && cert === undefined) return undefined;
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

/** Of all stores that have some; undefined where none has. */
export function allTlsFiles(
  variables: TlsVariables,
): Readonly<Partial<Record<TlsStore, TlsFiles>>> | undefined {
  const stores = TLS_STORES.flatMap((store) => {
    const files = tlsFiles(variables, store);
    return files === undefined ? [] : [[store, files] as const];
  });
  return stores.length === 0 ? undefined : Object.fromEntries(stores);
}

/** The parameters of a URL of PostgreSQL, which its clients read. Our URLs of ClickHouse have them too. */
const PARAMETERS = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" } as const;
const NAMES = ["ca", "cert", "key"] as const;

/** The URL with these files, so that every thread and command that gets it connects alike. */
export function withTlsFiles(url: string, files: TlsFiles): string {
  const whole = new URL(url);
  for (const name of NAMES) {
    const path = files[name];
    if (path !== undefined) whole.searchParams.set(PARAMETERS[name], path);
  }
  return whole.href;
}

interface Addresses {
  readonly DATABASE_URL?: string | undefined;
  readonly CLICKHOUSE_URL?: string | undefined;
}

/** DATABASE_URL with the files of its variables, which turn TLS on. */
export function databaseUrl(variables: TlsVariables & Addresses): string | undefined {
  const { DATABASE_URL: url } = variables;
  const files = tlsFiles(variables, "DATABASE");
  if (url === undefined || files === undefined) return url;
  const whole = new URL(withTlsFiles(url, files));
  whole.searchParams.set("sslmode", "verify-full");
  return whole.href;
}

/** CLICKHOUSE_URL with the files of its variables. */
export function clickhouseUrl(variables: TlsVariables & Addresses): string | undefined {
  const { CLICKHOUSE_URL: url } = variables;
  const files = tlsFiles(variables, "CLICKHOUSE");
  return url === undefined || files === undefined ? url : withTlsFiles(url, files);
}

/** The files that `withTlsFiles` has put into the URL. */
export function tlsFilesOf(url: string): TlsFiles {
  const { searchParams } = new URL(url);
  const paths = NAMES.map((name) => [name, searchParams.get(PARAMETERS[name]) ?? undefined]);
  return Object.fromEntries(paths) as TlsFiles;
}

/** Their contents. */
export function readTlsOf(url: string): TlsOptions {
  return readTls(tlsFilesOf(url));
}

export function readTls(files: TlsFiles): TlsOptions {
  const given = NAMES.flatMap((name) => (files[name] === undefined ? [] : [[name, files[name]] as const]));
  return Object.fromEntries(given.map(([name, path]) => [name, readFileSync(path, "utf8")]));
}

/** Throws StartFailure that names the variable of a file that cannot be read, or is none of its kind. */
export function checkTlsFiles(stores: Readonly<Partial<Record<TlsStore, TlsFiles>>> = {}): void {
  for (const store of TLS_STORES) {
    const { ca, cert, key } = stores[store] ?? {};
    if (ca !== undefined) readCertificates(`${store}_TLS_CA`, ca);
    if (cert === undefined || key === undefined) continue;
    const [certificate] = readCertificates(`${store}_TLS_CERT`, cert);
    if (certificate?.checkPrivateKey(readKey(`${store}_TLS_KEY`, key)) !== true)
      throw new StartFailure(
        `The key in ${store}_TLS_KEY does not match the certificate in ${store}_TLS_CERT.`,
      );
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

function readCertificates(variable: string, path: string): X509Certificate[] {
  const found = readFileOf(variable, path).match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new StartFailure(`${path} (${variable}) does not contain a PEM certificate.`);
  return found.map((text) =>
    parsed(`${path} (${variable}) contains an invalid certificate`, () => new X509Certificate(text)),
  );
}

function readKey(variable: string, path: string) {
  const text = readFileOf(variable, path);
  return parsed(`${path} (${variable}) does not contain a PEM private key without a password`, () =>
    createPrivateKey(text),
  );
}

function readFileOf(variable: string, path: string): string {
  return parsed(`The file in ${variable} cannot be read`, () => readFileSync(path, "utf8"));
}

function parsed<T>(fault: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartFailure(`${fault}: ${(error as Error).message}`, { cause: error });
  }
}
