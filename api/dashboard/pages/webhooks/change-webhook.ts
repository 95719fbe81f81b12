import type { WebhookTestResult } from "../../../../schemas/contracts/webhook-delivery.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import type { Submitted, Visit } from "../../page.js";
import { faultsAt } from "../../parts/faults.js";
import type { Form } from "../../read-form.js";
import { kindsOf } from "./kind-fields.js";

/** Takes the forms of a webhook's page. */
export async function changeWebhook(visit: Visit, form: Form): Promise<Submitted> {
  const { api, owner, param, href } = visit;
  const at = path`/v2/${owner.name}/webhooks/${param("webhook")}`;
  const put = (body: unknown) => api<WebhookRecord>({ method: "PUT", path: at, body });
  const to = (notice: string) => ({
    to: href(path`/o/${owner.name}/webhooks/${param("webhook")}`, { notice }),
  });
  switch (form.action) {
    case "test":
      return { shown: { test: await api<WebhookTestResult>({ method: "POST", path: `${at}/test` }) } };
    case "enable":
    case "disable":
      await put({ enabled: form.action === "enable" });
      return to(`${form.action}d`);
    case "change":
      await faultsAt(
        { "webhook-url-not-allowed": "url" },
        put({ url: form.text("url"), event_kinds: kindsOf(form) }),
      );
      return to("changed");
    case "rotate": {
      const { secret } = await api<{ secret: string }>({ method: "POST", path: `${at}/rotate-secret` });
      return { shown: { secret } };
    }
    case "end-old-secret":
      await api({ method: "DELETE", path: `${at}/old-secret` });
      return to("old-secret-ended");
    case "resend":
      await api({ method: "POST", path: `${at}/${path`deliveries/${form.text("delivery")}/redeliver`}` });
      return to("resent");
    case "delete":
      await api({ method: "DELETE", path: at });
      return { to: href(path`/o/${owner.name}/webhooks`, { notice: "deleted" }) };
    default:
      throw new Problem("invalid-query", "The page has no such form.");
  }
}
