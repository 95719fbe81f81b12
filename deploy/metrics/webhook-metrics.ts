import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { WebhookBacklog } from "../../api/features/webhooks/webhook-deliveries.js";
import type { AttemptOutcome } from "../../api/features/webhooks/delivery-attempts.js";

const OUTCOMES = ["delivered", "rejected", "retried", "failed"] as const;
const DURATIONS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function createWebhookMetrics(
  registry: Registry,
  { readBacklog }: { readBacklog: () => Promise<WebhookBacklog> },
) {
  const registers = [registry];
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help:
      "Delivery attempts by outcome: delivered, rejected by the receiver, retried (a retry follows), or " +
      "failed after the last retry",
    labelNames: ["outcome"],
    registers,
  });
  const duration = new Histogram({
    name: "webhook_attempt_duration_seconds",
    help: "Duration of an attempt, from the DNS lookup to the response",
    buckets: DURATIONS,
    registers,
  });
  const disabled = new Counter({
    name: "webhooks_disabled_total",
    help: "Webhooks that were disabled after three days without a successful delivery",
    registers,
  });
  createBacklogGauges(registry, readBacklog);
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0);
  return {
    onAttempt: (outcome: AttemptOutcome) => {
      attempts.inc({ outcome: outcomeOf(outcome) });
      duration.observe(outcome.exchange.durationMs / 1000);
    },
    onDisabled: () => disabled.inc(),
  };
}

function outcomeOf({ exchange, next }: AttemptOutcome): (typeof OUTCOMES)[number] {
  if (next.state === "pending") return "retried";
  if (next.state === "failed" && exchange.status !== null) return "rejected";
  return next.state;
}

/** Values of the whole system, which every process with the role `jobs` reports. NaN while PostgreSQL is unavailable. */
function createBacklogGauges(registry: Registry, readBacklog: () => Promise<WebhookBacklog>): void {
  const registers = [registry];
  const unknown = { deliveries: NaN, oldestSeconds: NaN };
  new Gauge({
    name: "webhook_queue_oldest_seconds",
    help: "Waiting time of the oldest due delivery. Every process reports the value of the whole service",
    registers,
  });
  const oldest = registry.getSingleMetric("webhook_queue_oldest_seconds") as Gauge;
  new Gauge({
    name: "webhook_queue_deliveries",
    help: "Unfinished deliveries to enabled webhooks, including scheduled retries. Every process reports the value of the whole service",
    registers,
    async collect() {
      const backlog = await readBacklog().catch(() => unknown);
      this.set(backlog.deliveries);
      oldest.set(backlog.oldestSeconds);
    },
  });
}
