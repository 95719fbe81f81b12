import { randomUUID } from "node:crypto";
import { createAddressGuard } from "../../../api/base/outbound/guard-address.js";
import { sendRequest } from "../../../api/base/outbound/send-request.js";
import { webhookBody } from "../../../api/base/outbox/webhook-outbox.js";
import { issueWebhookSecret, signatureHeaders } from "../../../api/features/webhooks/sign.js";
import { DELIVERY_LIMITS } from "../../../api/features/webhooks/start-deliveries.js";
import { OWNER } from "../common/create-bench-account.js";
import { secondsSince } from "../common/seconds-since.js";

const COMPANIES = 20;

/** An event with the content that the funnel sends. */
export function stageEvent() {
  const companies = Array.from({ length: COMPANIES }, (_, nth) => ({
    domain: `company-${nth}.example`,
    name: `Company ${nth}`,
    old_stage: "interest" as const,
    new_stage: "investigation" as const,
  }));
  return { type: "company-funnel-stage-changed", data: { companies } } as const;
}

/**
 * Sends the same signed requests with the program's concurrency for each receiver, but from memory, without an outbox or
 * a log. Returns the seconds.
 */
export async function sendBare(urls: readonly string[], events: number): Promise<number> {
  const guard = createAddressGuard({ allowPrivateNetworks: true }, () =>
    Promise.reject(new Error("no names")),
  );
  const secrets = [issueWebhookSecret()];
  const begun = performance.now();
  const sendTo = async (url: string, count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      const [id, at] = [randomUUID(), new Date()];
      const body = webhookBody({ id, owner: OWNER, ...stageEvent(), createdAt: at });
      await sendRequest({ url, headers: signatureHeaders({ id, body, secrets, at }), body }, { guard });
    }
  };
  const senders = urls.flatMap((url) => {
    const each = Math.ceil(events / DELIVERY_LIMITS.perTarget);
    return Array.from({ length: DELIVERY_LIMITS.perTarget }, () => sendTo(url, each));
  });
  await Promise.all(senders);
  return secondsSince(begun);
}
