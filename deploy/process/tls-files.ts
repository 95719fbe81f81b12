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

/** The files of `ca=/etc/ca.pem,cert=/etc/client.pem,key=/etc/client.key`, none of `true`; undefined for anything else. */
export function parseTlsFiles(text: string): TlsFiles | undefined {
  if (text === "true") return {};
  const files: TlsFiles = {};
  for (const part of text.split(",")) {
    const [, name, path] = /^\s*(ca|cert|key)\s*=\s*(.*\S)\s*$/.exec(part) ?? [];
    if (path === undefined) return undefined;
    files[name as keyof TlsFiles] = path;
  }
  return (files.cert === undefined) === (files.key === undefined) ? files : undefined;
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
export function checkTlsFiles(stores: Readonly<Partial<Record<TlsStore, TlsFiles>>>): void {
  for (const store of TLS_STORES) {
    const { ca, cert, key } = stores[store] ?? {};
    if (ca !== undefined) readCertificates(`ca in ${store}_TLS`, ca);
    if (cert === undefined || key === undefined) continue;
    const [certificate] = readCertificates(`cert in ${store}_TLS`, cert);
    if (certificate?.checkPrivateKey(readKey(`key in ${store}_TLS`, key)) !== true)
      throw new StartFailure(`The key in ${store}_TLS does not match the certificate.`);
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

function readCertificates(place: string, path: string): X509Certificate[] {
  const found = readFileOf(place, path).match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new StartFailure(`${path} (${place}) does not contain a PEM certificate.`);
  return found.map((text) =>
    parsed(`${path} (${place}) contains an invalid certificate`, () => new X509Certificate(text)),
  );
}

function readKey(place: string, path: string) {
  const text = readFileOf(place, path);
  return parsed(`${path} (${place}) does not contain a PEM private key without a password`, () =>
    createPrivateKey(text),
  );
}

function readFileOf(place: string, path: string): string {
  return parsed(`The file of ${place} cannot be read`, () => readFileSync(path, "utf8"));
}

function parsed<T>(fault: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartFailure(`${fault}: ${(error as Error).message}`, { cause: error });
  }
}
