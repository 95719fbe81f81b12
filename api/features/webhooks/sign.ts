import { createHmac, randomBytes } from "node:crypto";

/** A fresh signing secret in the form of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function issueWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

interface Signing {
  id: string;
  body: Buffer;
  /** Newest first; two during a rotation. */
  secrets: readonly string[];
  at: Date;
}

/**
 * The headers that prove that a request is ours. `X-Service-Signature` uses the whole text of the secret as its key and
 * signs `<t>.<body>`. The three of Standard Webhooks (https://www.standardwebhooks.com) use the bytes after `whsec_`
 * and sign `<id>.<t>.<body>`.
 */
export function signatureHeaders({ id, body, secrets, at }: Signing): Record<string, string> {
  const seconds = String(Math.floor(at.getTime() / 1000));
  const own = secrets.map((secret) => `v1=${hmac(secret, [`${seconds}.`, body]).toString("hex")}`);
  const standard = secrets.map(
    (secret) => `v1,${hmac(keyBytes(secret), [`${id}.${seconds}.`, body]).toString("base64")}`,
  );
  return {
    "X-Service-Signature": [`t=${seconds}`, ...own].join(","),
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": standard.join(" "),
  };
}

const PREFIX = "whsec_";

function keyBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

function hmac(key: string | Buffer, parts: readonly (string | Buffer)[]): Buffer {
  const made = createHmac("sha256", key);
  for (const part of parts) made.update(part);
  return made.digest();
}
