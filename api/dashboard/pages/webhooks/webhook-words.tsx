import type { DeliveryState } from "../../../../schemas/contracts/webhook-delivery.js";
import type { WebhookEventKind } from "../../../../schemas/contracts/webhook-event.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { Badge, type BadgeKind } from "../../parts/badge.js";

export const KIND_WORDS: Record<WebhookEventKind, string> = {
  "company-funnel-stage-changed": "A company reaches another stage",
  test: "Tests",
};

const STATES: Record<DeliveryState, { label: string; kind: BadgeKind }> = {
  pending: { label: "Pending", kind: "busy" },
  delivered: { label: "Delivered", kind: "good" },
  failed: { label: "Failed", kind: "bad" },
  cancelled: { label: "Cancelled", kind: "plain" },
};

export function DeliveryBadge({ state }: { state: DeliveryState }) {
  const { label, kind } = STATES[state];
  return <Badge kind={kind}>{label}</Badge>;
}

export function deliveryLabel(state: DeliveryState): string {
  return STATES[state].label;
}

export function WebhookBadge({ webhook }: { webhook: Pick<WebhookRecord, "enabled" | "disabled_reason"> }) {
  if (webhook.enabled) return <Badge kind="good">On</Badge>;
  return webhook.disabled_reason === undefined ? (
    <Badge>Off</Badge>
  ) : (
    <Badge kind="bad">Off: it failed</Badge>
  );
}
