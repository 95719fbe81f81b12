import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type TlsFiles, checkTlsFiles } from "../../../../deploy/process/tls-files.js";
import { makeAuthority } from "../../../support/networks/make-authority.js";

const dir = mkdtempSync(join(tmpdir(), "tls-files-"));
afterAll(() => rmSync(dir, { recursive: true }));

const authority = makeAuthority(dir, "ours");
const { ca } = authority;
const client = authority.issue("client", "DNS:client");
const other = authority.issue("other", "DNS:other");
const missing = join(dir, "missing.pem");
const broken = join(dir, "broken.pem");
writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");

test("files of certificates and of their key pass", () => {
  expect(() => checkTlsFiles({ KAFKA: { ca, ...client }, DATABASE: { ca } })).not.toThrow();
});

test.each<[TlsFiles, string]>([
  [{ ca: missing }, "The file of ca in KAFKA_TLS cannot be read: ENOENT"],
  [{ ca: client.key }, `${client.key} (ca in KAFKA_TLS) does not contain a PEM certificate.`],
  [{ ca: broken }, `${broken} (ca in KAFKA_TLS) contains an invalid certificate`],
  [{ cert: client.cert, key: missing }, "The file of key in KAFKA_TLS cannot be read: ENOENT"],
  [
    { cert: client.cert, key: client.cert },
    `${client.cert} (key in KAFKA_TLS) does not contain a PEM private key without a password`,
  ],
  [{ cert: client.cert, key: other.key }, "The key in KAFKA_TLS does not match the certificate."],
])("a start is refused that names the variable of a wrong file: %o", (files, sentence) => {
  expect(() => checkTlsFiles({ KAFKA: files })).toThrow(sentence);
});
