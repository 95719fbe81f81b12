import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createSealer } from "../../api/base/identity/tokens.js";
import { createGuard } from "../../api/base/outbound/guard-address.js";
import type { Route } from "../../api/base/http/route.js";
import { webhookDeliveryRoutes } from "../../api/features/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../api/features/webhooks/secret-routes.js";
import { webhookRoutes } from "../../api/features/webhooks/webhook-routes.js";
import { readWebhookBacklog } from "../../api/features/webhooks/webhook-deliveries.js";
import { startDeliveries } from "../../api/features/webhooks/start-deliveries.js";
import type { Config } from "../config/config.js";
import { createWebhookMetrics } from "../metrics/webhook-metrics.js";
import type { Stores } from "../stores/open-stores.js";

interface WebhookParts {
  config: Config;
  log: Logger;
  stores: Stores;
  secretKey: Buffer;
  registry: Registry;
}

/** Delivers the events of the webhook outbox until disposed of. */
export function startWebhooks({
  config,
  log,
  stores: { pg },
  secretKey,
  registry,
}: WebhookParts): AsyncDisposable {
  const metrics = createWebhookMetrics(registry, { readBacklog: () => readWebhookBacklog(pg) });
  return startDeliveries({
    pg,
    guard: createGuard(config.webhooks),
    sealer: createSealer(secretKey, SECRET_KIND),
    onAttempt: metrics.onAttempt,
    onDisabled({ id, reason }) {
      metrics.onDisabled();
      log.warn({ webhook: id, reason }, "disabled a webhook");
    },
    onFailure: (error) => log.warn({ err: error }, "delivering to webhooks failed; retrying"),
  });
}

/** The API routes of webhooks. */
export function webhookApi({
  config,
  stores,
  secretKey,
}: Pick<WebhookParts, "config" | "stores" | "secretKey">): Route[] {
  const guard = createGuard(config.webhooks);
  const deps = { pg: stores.requests, guard, sealer: createSealer(secretKey, SECRET_KIND) };
  return [
    ...webhookRoutes({ ...deps, quotas: config.quotas }),
    ...webhookSecretRoutes(deps),
    ...webhookDeliveryRoutes(deps),
  ];
}

const SECRET_KIND = "webhook-secret";
