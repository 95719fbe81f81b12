import type { TlsStore } from "../process/tls-files.js";
import { causesOf } from "../process/start-failure.js";

/** The sentences of a failed connection, and how to mend it where its certificates were the reason. */
export function explainConnection(error: unknown, store: TlsStore): string {
  const advice = adviceOf(error, store);
  return [causesOf(error).join(": "), ...(advice === undefined ? [] : [advice])].join(". ");
}

const ADDRESSES = {
  DATABASE: "DATABASE_URL",
  CLICKHOUSE: "CLICKHOUSE_URL or CLICKHOUSE_SHARDS",
  KAFKA: "KAFKA_BROKERS, or for the name that the broker advertises",
} as const satisfies Record<TlsStore, string>;

/** Names: the errors of X509_verify_cert(3) as Node spells them, and the alerts of RFC 8446 as OpenSSL does. */
const ADVICE: readonly { codes: RegExp; say: (store: TlsStore) => string }[] = [
  {
    codes:
      /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)$/,
    say: (store) =>
      `The server's certificate is not signed by a trusted authority: set ca in ${store}_TLS to a PEM file ` +
      "with the certificate of its authority",
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    say: (store) => `The server's certificate is not valid for the host name in ${ADDRESSES[store]}`,
  },
  { codes: /^CERT_HAS_EXPIRED$/, say: () => "The server's certificate has expired: renew it" },
  {
    codes:
      /^ERR_SSL_\w+_ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNKNOWN_CA|HANDSHAKE_FAILURE)$/,
    say: (store) =>
      `The server requires a client certificate that it trusts: set cert and key in ${store}_TLS`,
  },
  {
    codes: /^ERR_SSL_WRONG_VERSION_NUMBER$|^ERR_SSL_PACKET_LENGTH_TOO_LONG$/,
    say: () => "The server does not use TLS on this port",
  },
];

function adviceOf(error: unknown, store: TlsStore): string | undefined {
  const codes = codesOf(error);
  return ADVICE.find((one) => codes.some((code) => one.codes.test(code)))?.say(store);
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const code = "code" in error ? [String(error.code)] : [];
  return [...code, ...codesOf(error.cause)];
}
