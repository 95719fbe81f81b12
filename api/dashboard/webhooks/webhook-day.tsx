import { numbered } from "../../../schemas/records/numbered.js";
import { DELIVERY_STATES } from "../../../schemas/contracts/webhook-event.js";
import type { WebhookDay } from "../../../schemas/contracts/webhook.js";
import { formatCount, formatFull, formatShare } from "../../web/parts/format.js";
import { deliveryLabel } from "./webhook-labels.js";

/** How a webhook did in the last 24 hours: what arrived, how fast, and in how many attempts. */
export function Day({ day }: { day: WebhookDay }) {
  const facts = [
    { label: "Delivered (24 hours)", text: successOf(day), about: countsOf(day) },
    { label: "Attempts", text: formatCount(day.attempts), about: attemptsEach(day) },
    { label: "Median response time", text: latency(day.median_ms), about: "p95 " + latency(day.p95_ms) },
  ];
  return (
    <dl class="tiles">
      {facts.map(({ label, text, about }) => (
        <div class="tile">
          <dt>{label}</dt>
          <dd>
            <span class="figure">{text}</span>
            {day.attempts > 0 && <span class="soft small"> {about}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** In a list. */
export function Success({ day }: { day: WebhookDay }) {
  return (
    <>
      {successOf(day)} <span class="soft small">{countsOf(day)}</span>
    </>
  );
}

/** Of what has ended. */
function successOf({ delivered, failed }: WebhookDay): string {
  const ended = delivered + failed;
  return ended === 0 ? "–" : formatShare(delivered / ended);
}

function countsOf(day: WebhookDay): string {
  const some = DELIVERY_STATES.filter((state) => day[state] > 0);
  return some.length === 0
    ? "No deliveries"
    : some.map((state) => `${formatCount(day[state])} ${deliveryLabel(state).toLowerCase()}`).join(", ");
}

function attemptsEach(day: WebhookDay): string {
  const deliveries = DELIVERY_STATES.reduce((sum, state) => sum + day[state], 0);
  return `for ${numbered(deliveries, "delivery", "deliveries")}`;
}

export function latency(ms: number | undefined): string {
  return ms === undefined ? "–" : `${formatFull(ms)} ms`;
}
