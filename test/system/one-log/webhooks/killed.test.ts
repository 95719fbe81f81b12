import { afterAll, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { enqueueWebhookEvent } from "../../../../api/webhooks/webhook-outbox.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { openReceiver } from "../../../support/api/receivers.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

let toolchain: Toolchain | undefined;
afterAll(() => toolchain?.close());

test("a program that is killed while it delivers delivers every event after all, with the same id and body", async () => {
  const running = (toolchain = await startToolchain({ env: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" } }));
  const ada = await running.newAccount("ada");
  // The first requests are never answered: the program dies over them.
  let isBack = false;
  const receiver = await openReceiver((_, response) => void (isBack && response.end()));
  const sent = { url: receiver.url, event_kinds: ["company-funnel-stage-changed"] };
  const { secret } = await ada.post<WebhookRecord & { secret: string }>("/v2/ada/webhooks", sent);
  const ids = await onPostgres(running.endpoints.postgres, async (client) => {
    const { rows } = await client.query<{ id: string }>("select id from owners where name = 'ada'");
    const event = {
      ownerId: rows[0]?.id ?? "",
      type: "company-funnel-stage-changed",
      createdAt: new Date(),
    } as const;
    const made: string[] = [];
    for (let nth = 0; nth < 10; nth += 1)
      made.push(await enqueueWebhookEvent(client, { ...event, data: { companies: [] } }));
    return made;
  });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await running.kill("SIGKILL");
  const before = [...receiver.received];
  isBack = true;
  await running.restart();
  const delivered = () => new Set(receiver.received.slice(before.length).map(({ id }) => id));
  await expect.poll(() => [...delivered()].sort()).toEqual([...ids].sort());
  for (const { id, body } of before) {
    const again = receiver.received.findLast((each) => each.id === id);
    expect(again?.body).toEqual(body);
    expect(again?.headers["webhook-timestamp"]).not.toBe(before[0]?.headers["webhook-timestamp"]);
    new Webhook(secret).verify(again?.body ?? "", again?.headers as Record<string, string>);
  }
  await receiver[Symbol.asyncDispose]();
  const attempts = async () =>
    (await readMetrics(running)).sum("webhook_attempts_total", { outcome: "delivered" });
  await expect.poll(attempts).toBe(ids.length);
  expect((await readMetrics(running)).sum("webhook_queue_deliveries")).toBe(0);
});
