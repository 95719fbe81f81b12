import { isUuid } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import type { WebhookRecord } from "../../schemas/contracts/webhook.js";
import { wholeOwnerFor } from "../access/authorise.js";
import type { Call } from "../http/route.js";
import type { Postgres } from "../postgres/query.js";
import { readWebhook } from "./webhooks.js";

/**
 * Finds the webhook on the path and checks that the caller may manage its owner's webhooks and is blocked from none of
 * the packages. Throws `not-found`, `forbidden`.
 */
export async function webhookFor(
  pg: Postgres,
  { account, action, param }: Pick<Call<"webhooks.manage">, "account" | "action" | "param">,
): Promise<{ ownerId: string; webhook: WebhookRecord }> {
  const { id: ownerId } = await wholeOwnerFor(pg, account, param("owner"), action);
  const id = param("webhook");
  const webhook = isUuid(id) ? await readWebhook(pg, { ownerId, id }) : undefined;
  if (webhook === undefined) throw new Problem("not-found", `There is no webhook ${id} that you can see.`);
  return { ownerId, webhook };
}

/** The webhook as a target in the audit log. */
export function webhookTarget({ id, url }: Pick<WebhookRecord, "id" | "url">) {
  return { kind: "webhook", id, name: url } as const;
}
