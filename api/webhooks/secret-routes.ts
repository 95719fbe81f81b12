import { createHmac, randomBytes } from "node:crypto";
import { WEBHOOK_WITH_SECRET, type WebhookRecord } from "../../schemas/contracts/webhook.js";
import { lockOwner } from "../access/owners.js";
import { type Call, type Route, route } from "../http/route.js";
import { inTransaction } from "../postgres/connection.js";
import {
  type WebhookDeps,
  deleteOldWebhookSecret,
  updateWebhookSecret,
  webhookFor,
  webhookTarget,
} from "./webhooks.js";

export const WEBHOOK_SENT = {
  url: "https://crm.acme.example/hooks/stages",
  event_kinds: ["company-funnel-stage-changed"],
};
export const WEBHOOK_EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  ...WEBHOOK_SENT,
  enabled: true,
  created_at: "2026-08-04T13:58:26.021037Z",
  updated_at: "2026-08-04T13:58:26.021037Z",
};
export const WITH_SECRET = {
  description: "The webhook with its secret, which is shown this once",
  schema: WEBHOOK_WITH_SECRET,
  example: { ...WEBHOOK_EXAMPLE, secret: `whsec_${"A".repeat(43)}=` },
};

const PATH = "/v2/:owner/webhooks/:webhook";

type SecretDeps = Pick<WebhookDeps, "pg" | "sealer">;

export function webhookSecretRoutes({ pg, sealer }: SecretDeps): Route[] {
  return [
    route({
      method: "POST",
      path: `${PATH}/rotate-secret`,
      action: "webhooks.manage",
      operation: {
        id: "rotateWebhookSecret",
        summary: "Give a webhook a new secret",
        description:
          "For 24 hours requests are signed with the old one as well: `X-Service-Signature` then has two `v1=`. " +
          "`DELETE .../old-secret` ends that at once.",
        answers: { 200: WITH_SECRET },
      },
      async handle(call) {
        call.ctx.body = await rotateSecret({ pg, sealer }, call);
      },
    }),
    route({
      method: "DELETE",
      path: `${PATH}/old-secret`,
      action: "webhooks.manage",
      operation: {
        id: "deleteOldWebhookSecret",
        summary: "End the old secret of a webhook before its 24 hours are over",
        description:
          "Requests are then signed with the current secret alone: for receivers that read one `v1` and have the new " +
          "secret, and for an old secret that got known. Without an old secret nothing changes.",
        answers: { 204: { description: "Only the current secret is valid" } },
      },
      async handle(call) {
        await endOldSecret({ pg }, call);
        call.ctx.status = 204;
      },
    }),
  ];
}

async function endOldSecret({ pg }: Pick<SecretDeps, "pg">, call: Call<"webhooks.manage">): Promise<void> {
  await inTransaction(pg, async (client) => {
    await lockOwner(client, call.param("owner"));
    const { ownerId, webhook } = await webhookFor(client, call);
    if (!(await deleteOldWebhookSecret(client, webhook.id))) return;
    await call.record(client, { ownerId, target: webhookTarget(webhook), changes: { old_secret: "ended" } });
  });
}

async function rotateSecret(
  { pg, sealer }: SecretDeps,
  call: Call<"webhooks.manage">,
): Promise<WebhookRecord & { secret: string }> {
  const secret = issueWebhookSecret();
  return inTransaction(pg, async (client) => {
    await lockOwner(client, call.param("owner"));
    const { ownerId, webhook } = await webhookFor(client, call);
    await updateWebhookSecret(client, { id: webhook.id, secret: sealer.seal(secret, webhook.id) });
    const { webhook: after } = await webhookFor(client, call);
    await call.record(client, { ownerId, target: webhookTarget(after), changes: { secret: "rotated" } });
    return { ...after, secret };
  });
}

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
