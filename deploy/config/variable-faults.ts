import { Ajv, type ErrorObject } from "ajv";
import { isIP } from "node:net";
import { validate as isCron } from "node-cron";
import { parseQuotas } from "../../api/base/access/quotas.js";
import { SOURCE_KINDS, type SourceKind } from "../../schemas/contracts/source.js";
import { isHttpUrl, parseBytes } from "../../schemas/formats.js";
import { isMailbox } from "../../schemas/mailbox.js";
import { VARIABLES, type VariableName, type Variables } from "./config-schema.js";
import { ROLES } from "./roles.js";
import { parseShards } from "./store-variables.js";
import { type TlsStore, tlsFiles } from "../process/tls-files.js";
import type { VariableSchema } from "./variables.js";

export function variableFaults(variables: Variables): string[] {
  if (validate(variables)) return [...quorumFaults(variables), ...plainFaults(variables)];
  return (validate.errors ?? []).map((error) => faultSentence(variables, error));
}

// Checking our own schema against that of JSON Schema would take each start 50 ms.
const ajv = new Ajv({ allErrors: true, strict: false, meta: false, validateSchema: false });
ajv.addFormat("text", (text) => text.trim() !== "");
ajv.addFormat("host", isHost);
ajv.addFormat("port", (text) => isWhole(text, { min: 0, max: 65535 }));
ajv.addFormat("workers", (text) => isWhole(text, { min: 1, max: 256 }));
ajv.addFormat("days", (text) => isWhole(text, { min: 1, max: 36_500 }));
ajv.addFormat("rate", (text) => isWhole(text, { min: 1, max: 1_000_000 }));
ajv.addFormat("audit-access", (text) => isWhole(text, { min: 1, max: 100_000 }));
ajv.addFormat("quotas", (text) => parseQuotas(text) !== undefined);
ajv.addFormat("bytes", (text) => parseBytes(text) !== undefined);
ajv.addFormat("roles", (text) => items(text).length > 0 && unknownRoles(text).length === 0);
ajv.addFormat("postgres-url", (text) => isUrl(text, ["postgres:", "postgresql:"]));
ajv.addFormat("http-url", (text) => isUrl(text, ["http:", "https:"]));
ajv.addFormat("public-url", (text) => parsePublicUrl(text) !== undefined);
ajv.addFormat("issuer", isIssuer);
ajv.addFormat("smtp-url", (text) => isUrl(text, ["smtp:", "smtps:"]) && new URL(text).hostname !== "");
ajv.addFormat("sender", isMailbox);
ajv.addFormat("brokers", (text) => items(text).length > 0 && items(text).every(isBroker));
ajv.addFormat("name", (text) => /^[A-Za-z0-9._-]{1,100}$/.test(text));
ajv.addFormat("partitions", (text) => isWhole(text, { min: 1, max: 10_000 }));
ajv.addFormat("replicas", (text) => isWhole(text, { min: 1, max: 100 }));
ajv.addFormat("session", (text) => isWhole(text, { min: 1_000, max: 300_000 }));
ajv.addFormat("password", (text) => text !== "");
ajv.addFormat("secret-key", (text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text));
ajv.addFormat("cidrs", (text) => items(text).every(isCidr));
ajv.addFormat("origins", (text) => items(text).every(isOrigin));
ajv.addFormat("dns-servers", (text) => items(text).length > 0 && items(text).every(isDnsServer));
ajv.addFormat("cron", isCron);
ajv.addFormat("source-urls", (text) => parseSourceUrls(text) !== undefined);
ajv.addFormat("shards", (text) => typeof parseShards(text) !== "string");

const validate = ajv.compile({
  type: "object",
  properties: VARIABLES,
  // A key made on one machine would leave a shared database unreadable to the next.
  dependencies: {
    DATABASE_URL: ["SECRET_KEY"],
    // The embedded server is one, and no part of a cluster.
    CLICKHOUSE_SHARDS: ["CLICKHOUSE_URL"],
    CLICKHOUSE_CLUSTER: ["CLICKHOUSE_SHARDS"],
    CLICKHOUSE_QUORUM: ["CLICKHOUSE_SHARDS"],
    // Half of it would mean a connection that nobody wanted: without a password, or without encryption.
    KAFKA_SASL_MECHANISM: ["KAFKA_BROKERS", "KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"],
    KAFKA_SASL_USERNAME: ["KAFKA_SASL_MECHANISM"],
    KAFKA_SASL_PASSWORD: ["KAFKA_SASL_MECHANISM"],
    OIDC_ISSUER: ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"],
    OIDC_CLIENT_ID: ["OIDC_ISSUER"],
    OIDC_CLIENT_SECRET: ["OIDC_ISSUER"],
    SMTP_URL: ["MAIL_FROM"],
    MAIL_FROM: ["SMTP_URL"],
    KAFKA_TLS: ["KAFKA_BROKERS"],
    ...tlsDependencies("KAFKA", "KAFKA_BROKERS"),
    ...tlsDependencies("DATABASE", "DATABASE_URL"),
    ...tlsDependencies("CLICKHOUSE", "CLICKHOUSE_URL"),
  },
});

function tlsDependencies(store: TlsStore, address: VariableName): Record<string, VariableName[]> {
  return {
    [`${store}_TLS_CA`]: [address],
    [`${store}_TLS_CERT`]: [address, `${store}_TLS_KEY`],
    [`${store}_TLS_KEY`]: [`${store}_TLS_CERT`],
  };
}

/** Certificates without TLS would mean a connection that anybody can read. */
function plainFaults(variables: Variables): string[] {
  const { CLICKHOUSE_URL: url = "", CLICKHOUSE_SHARDS: text } = variables;
  if (tlsFiles(variables, "CLICKHOUSE") === undefined) return [];
  const shards = parseShards(text ?? "");
  const servers = typeof shards === "string" ? [url] : shards.flatMap((shard) => shard.servers);
  if (servers.every((server) => new URL(server).protocol === "https:")) return [];
  const variable = text === undefined ? "CLICKHOUSE_URL" : "CLICKHOUSE_SHARDS";
  return [`${variable} must contain only https:// URLs if CLICKHOUSE_TLS_CA or CLICKHOUSE_TLS_CERT is set`];
}

/** The entries of a comma-separated list, trimmed; empty ones do not count. */
export function items(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** More replicas than a shard has would never have a row. */
function quorumFaults({ CLICKHOUSE_QUORUM: quorum, CLICKHOUSE_SHARDS: text }: Variables): string[] {
  const shards = parseShards(text ?? "");
  if (quorum === undefined || typeof shards === "string") return [];
  return shards
    .filter(({ servers }) => servers.length < Number(quorum))
    .map(
      ({ name, servers }) =>
        `CLICKHOUSE_QUORUM must not exceed the number of servers in any shard; it is "${quorum}", but ` +
        `shard ${name} has only ${servers.length}`,
    );
}

/** Undefined for anything but `kind=URL` for each. */
export function parseSourceUrls(text: string): Partial<Record<SourceKind, string>> | undefined {
  const pairs = text
    .trim()
    .split(/\s+/)
    .map((each) => [each.split("=", 1)[0] ?? "", each.replace(/^[^=]*=?/, "")] as const);
  const isSound = pairs.every(
    ([kind, url]) => SOURCE_KINDS.some((each) => each === kind) && isUrl(url, ["http:", "https:"]),
  );
  return isSound
    ? Object.fromEntries(pairs.map(([kind, url]) => [kind, url.replace(/\/+$/, "")]))
    : undefined;
}

/** Without a slash at its end. Undefined for a URL with more than a host, a port and a path of plain characters. */
export function parsePublicUrl(text: string): string | undefined {
  if (!isHttpUrl(text) || /[?#]/.test(text)) return undefined;
  const { origin, pathname } = new URL(text);
  const path = pathname.replace(/\/$/, "");
  return /^(\/[A-Za-z0-9._~-]+)*$/.test(path) ? origin + path : undefined;
}

function isDnsServer(text: string): boolean {
  const [, v6, v4 = text, port = "53"] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
  return isIP(v6 ?? v4) > 0 && isWhole(port, { min: 1, max: 65535 });
}

function faultSentence(variables: Variables, error: ErrorObject): string {
  if (error.keyword === "dependencies") return missingSentence(error);
  const name = error.instancePath.slice(1) as VariableName;
  const schema: VariableSchema = VARIABLES[name];
  return `${name} must be ${schema.mustBe}; it is ${shown(schema, variables[name] ?? "")}`;
}

function missingSentence({ params }: ErrorObject): string {
  const { property, missingProperty } = params as { property: string; missingProperty: VariableName };
  const { mustBe } = VARIABLES[missingProperty];
  return `${missingProperty} is required because ${property} is set; set it to ${mustBe}`;
}

function shown({ format }: VariableSchema, value: string): string {
  if (format === "password") return "not shown";
  if (format === "shards") return `invalid (${parseShards(value) as string})`;
  if (format === "secret-key") return `${value.length} characters long (not shown)`;
  if (format?.endsWith("-url")) return urlWithoutSecrets(value);
  if (format === "roles") return `"${value}" (not a role: ${unknownRoles(value).join(", ") || "nothing"})`;
  return `"${value}"`;
}

function urlWithoutSecrets(value: string): string {
  if (!URL.canParse(value)) return "not a URL (not shown because it may contain a password)";
  const { protocol, host, pathname } = new URL(value);
  return `"${protocol}//${host}${host === "" ? "..." : pathname}"`;
}

function unknownRoles(text: string): string[] {
  return items(text).filter((item) => !ROLES.some((role) => role === item));
}

function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 ||
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
  );
}

function isWhole(text: string, { min, max }: { min: number; max: number }): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

/** Over plain http, somebody in between could sign in as anybody. */
function isIssuer(text: string): boolean {
  if (!isUrl(text, ["http:", "https:"])) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

function isBroker(text: string): boolean {
  const colon = text.lastIndexOf(":");
  return isHost(text.slice(0, colon)) && isWhole(text.slice(colon + 1), { min: 1, max: 65535 });
}

/** As browsers spell it: a scheme, a host and a port that is not the scheme's own, in lower case. */
function isOrigin(text: string): boolean {
  return text === "*" || (isUrl(text, ["http:", "https:"]) && new URL(text).origin === text);
}

function isCidr(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || isWhole(bits, { min: 0, max: family === 4 ? 32 : 128 });
}
