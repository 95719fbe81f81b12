import { WEBHOOK_WITH_SECRET, type WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { lockOwner } from "../../base/access/owners.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { issueWebhookSecret } from "./sign.js";
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
  description: "The webhook with its secret. The secret is shown only once",
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
        summary: "Rotate the secret of a webhook",
        description:
          "For 24 hours, requests are signed with both secrets: `X-Service-Signature` has two `v1=` " +
          "values. `DELETE .../old-secret` revokes the old secret immediately.",
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
        summary: "Revoke the old secret of a webhook",
        description:
          "From then on, requests are signed with the current secret only. Use this if your receiver can " +
          "read only one `v1` value, or if the old secret was leaked. Does nothing if there is no old " +
          "secret.",
        answers: { 204: { description: "Old secret revoked" } },
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
