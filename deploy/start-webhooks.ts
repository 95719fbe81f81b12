import { promises as dns, type LookupAddress } from "node:dns";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Route } from "../api/route.js";
import { webhookDeliveryRoutes } from "../api/routes/webhook-deliveries.js";
import { webhookRoutes } from "../api/routes/webhooks.js";
import { readWebhookBacklog } from "../api/stores/webhook-deliveries.js";
import { createSealer } from "../api/tokens.js";
import { createAddressGuard, type AddressGuard, type ResolveName } from "../api/webhooks/guarded-lookup.js";
import { startDeliveries } from "../api/webhooks/start-deliveries.js";
import type { Config } from "./config.js";
import type { Stores } from "./open-stores.js";
import { createWebhookMetrics } from "./webhook-metrics.js";

interface WebhookParts {
  config: Config;
  log: Logger;
  stores: Stores;
  secretKey: Buffer;
  registry: Registry;
}

/** Sends what is in the outbox of webhooks, until disposed of. */
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
      log.warn({ webhook: id, reason }, "a webhook was disabled");
    },
    onFailure: (error) => log.warn({ err: error }, "delivering to webhooks failed and is tried again"),
  });
}

/** The operations on webhooks. */
export function webhookApi({
  config,
  stores,
  secretKey,
}: Pick<WebhookParts, "config" | "stores" | "secretKey">): Route[] {
  const guard = createGuard(config.webhooks);
  const deps = { pg: stores.requests, guard, sealer: createSealer(secretKey, SECRET_KIND) };
  return [...webhookRoutes(deps), ...webhookDeliveryRoutes(deps)];
}

/** For every request that others ask the service to send. */
export function createGuard(rules: Config["webhooks"]): AddressGuard {
  return createAddressGuard(rules, rules.allowPrivateNetworks ? resolveAnyName : resolveName);
}

const SECRET_KIND = "webhook-secret";
const NAME_SERVER_MS = 2_000;

/**
 * Asks the name servers themselves: the system's own look-up has few threads for the whole process, which a name whose
 * servers do not answer would take from everybody else.
 */
const resolveName: ResolveName = async (name) => {
  const resolver = new dns.Resolver({ timeout: NAME_SERVER_MS, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer, index): LookupAddress[] =>
    answer.status === "rejected"
      ? []
      : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
  const [first] = answers;
  if (addresses.length > 0) return addresses;
  throw first.status === "rejected" ? first.reason : new Error(`${name} has no address`);
};

/** On a closed network also by its hosts files and search domains; those who ask are trusted with its threads. */
const resolveAnyName: ResolveName = (name) =>
  resolveName(name).catch(() => dns.lookup(name, { all: true, verbatim: true }));
