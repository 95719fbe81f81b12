import type { FailureOf, WebhookDisabledData } from "../../../../schemas/contracts/notification-event.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { path } from "../../../web/address.js";
import { formatFull } from "../../../web/parts/format.js";
import { type Draft, oneLine, quoted } from "../message.js";
import { type FailureKind, ONCE_AN_HOUR, listed, recent } from "./failure-kind.js";

export const webhookDisabled: FailureKind<"webhook-disabled"> = {
  // A webhook that fails again after it was enabled has failed since another time.
  select: `
    select id || ' ' || failing_since as period, updated_at as at, id::text as webhook, url,
      disabled_reason as reason
    from webhooks
    where webhooks.owner_id = rule.owner_id and not enabled and disabled_reason is not null
      and failing_since is not null and ${recent("updated_at")}`,
  failureOf: ({ url, ...row }) => ({
    ...(row as unknown as FailureOf<"webhook-disabled">),
    host: new URL(String(url)).host,
  }),
  example: () => ({
    webhook: NIL_UUID,
    host: "example.org",
    reason: "This is an example. None of your webhooks was disabled.",
  }),
  compose,
};

function compose(data: WebhookDisabledData, owner: string): Draft {
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} webhooks were disabled`,
      lines: [
        `${formatFull(data.failures)} webhooks were disabled.`,
        ...listed(data, ({ host, reason }) => `${oneLine(host)}: ${oneLine(reason)}`),
        "Enable each webhook once its receiver works again. Events that happen until then are not sent.",
      ],
      small: ONCE_AN_HOUR,
      label: "Open webhooks",
      end: "/webhooks",
    };
  return {
    subject: `${quoted(owner)}: the webhook to ${quoted(data.host)} was disabled`,
    lines: [
      `The webhook to ${oneLine(data.host)} was disabled. ${oneLine(data.reason, 500)}`,
      "Enable it once its receiver works again. Events that happen until then are not sent.",
    ],
    label: "Open webhook",
    end: path`/webhooks/${data.webhook}`,
  };
}
