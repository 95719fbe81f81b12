import {
  type DeliveryState,
  WEBHOOK_EVENTS,
  WEBHOOK_EVENT_KINDS,
} from "../../../schemas/contracts/webhook-event.js";
import type { WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { Badge, type BadgeKind } from "../../web/parts/panel.js";
import { Check, CopyLine } from "../../web/parts/form.js";
import type { Form } from "../../web/read-form.js";
import type { ComponentChildren } from "preact";

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
  if (webhook.enabled) return <Badge kind="good">Enabled</Badge>;
  return webhook.disabled_reason === undefined ? (
    <Badge>Disabled</Badge>
  ) : (
    <Badge kind="bad">Disabled: failing</Badge>
  );
}

export function KindFields({ chosen }: { chosen: readonly string[] }) {
  return (
    <fieldset>
      <legend>Events</legend>
      {WEBHOOK_EVENT_KINDS.filter((kind) => kind !== "test").map((kind) => (
        <Check
          name="event_kinds"
          value={kind}
          label={WEBHOOK_EVENTS[kind].label}
          checked={chosen.includes(kind)}
        />
      ))}
      {chosen.includes("test") && <input type="hidden" name="event_kinds" value="test" />}
    </fieldset>
  );
}

export function kindsOf(form: Form): string[] {
  return form.all("event_kinds");
}

interface SecretOnceProps {
  secret: string;
  title: string;
  children?: ComponentChildren;
}

/** A secret right after it was made: no later page has it. */
export function SecretOnce({ secret, title, children }: SecretOnceProps) {
  return (
    <section class="notice" role="status">
      <h2>{title}</h2>
      <p>Requests are signed with this secret. Copy it to your receiver now: it won't be shown again.</p>
      <CopyLine label="Secret" text={secret} />
      {children !== undefined && <p class="actions">{children}</p>}
    </section>
  );
}
