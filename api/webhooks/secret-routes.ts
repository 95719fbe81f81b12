import { WEBHOOK_WITH_SECRET, type WebhookRecord } from "../../schemas/contracts/webhook.js";
import { lockOwner } from "../access/owners.js";
import { type Call, type Route, route } from "../http/route.js";
import { inTransaction } from "../postgres/connection.js";
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
