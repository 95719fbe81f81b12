import type { WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { Button, ConfirmButton, Field, Form } from "../../web/parts/form.js";
import { Before, type Values, requireUnchanged } from "../../web/parts/unchanged.js";
import { formatTime } from "../../web/parts/format.js";
import { Panel } from "../../web/parts/panel.js";
import { KindFields, kindsOf } from "./webhook-labels.js";
import type { WebhookTestResult } from "../../../schemas/contracts/webhook-event.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import type { Submitted, Visit } from "../../web/page.js";
import { type Form as Sent, UNKNOWN_FORM, faultsAt } from "../../web/read-form.js";

export function WebhookSettings({ webhook }: { webhook: WebhookRecord }) {
  return (
    <div class="grid">
      <Panel title="Settings">
        <Form action="change">
          <Before values={valuesOf(webhook)} />
          <Field name="url" label="URL" type="url" value={webhook.url} required />
          <KindFields chosen={webhook.event_kinds} />
          <Button>Save</Button>
        </Form>
      </Panel>
      <Panel title="Secret">
        <Secret until={webhook.old_secret_until} />
      </Panel>
    </div>
  );
}

function valuesOf({ url, event_kinds: kinds }: WebhookRecord): Values {
  return { url, event_kinds: kinds };
}

function Secret({ until }: { until: string | undefined }) {
  return (
    <>
      <p>
        Requests are signed with this secret, so your receiver can verify where they come from. It was shown
        when it was created, and can't be shown again.
      </p>
      {until !== undefined && (
        <>
          <p>Until {formatTime(until)}, requests are also signed with the old secret.</p>
          <ConfirmButton
            action="end-old-secret"
            label="Revoke old secret"
            question="Receivers that only have the old secret will reject all further requests."
          />
        </>
      )}
      <ConfirmButton
        action="rotate"
        label="Create new secret"
        question="Requests are signed with both secrets for 24 hours, so that you have time to update your receiver."
      />
    </>
  );
}

export async function changeWebhook(visit: Visit, form: Sent): Promise<Submitted> {
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
      requireUnchanged(form, valuesOf(await api<WebhookRecord>({ path: at })));
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
      throw new Problem("invalid-query", UNKNOWN_FORM);
  }
}
