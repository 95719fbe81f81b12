import { DELIVERY_STATES, type WebhookTestResult } from "../../../../schemas/contracts/webhook-event.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { path } from "../../address.js";
import { page, useVisit } from "../../page.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Form } from "../../parts/form.js";
import { formatTime } from "../../parts/format.js";
import { PageHead, Panel, Tabs } from "../../parts/panel.js";
import { Pager } from "../../parts/table.js";
import { changeWebhook, WebhookSettings } from "./webhook-settings.js";
import { Deliveries, type DeliveryList } from "./deliveries.js";
import { SecretOnce, deliveryLabel, WebhookBadge } from "./webhook-words.js";

interface Shown {
  webhook: WebhookRecord;
  log: DeliveryList;
}

/** Answers to the page's forms that are shown once. */
export interface ShownOnce {
  test?: WebhookTestResult;
  secret?: string;
}

/** One webhook: its deliveries with every attempt, a test, and its settings. */
export const webhookPage = page<Shown>({
  path: "/o/:owner/webhooks/:webhook",
  section: "webhooks",
  async load({ api, owner, param, query }) {
    const at = path`/v2/${owner.name}/webhooks/${param("webhook")}`;
    const asked = {
      state: query.get("state") ?? undefined,
      after: query.get("after") ?? undefined,
      per_page: 25,
    };
    const [webhook, log] = await Promise.all([
      api<WebhookRecord>({ path: at }),
      api<DeliveryList>({ path: `${at}/deliveries`, query: asked }),
    ]);
    return { webhook, log };
  },
  title: ({ webhook }) => webhook.url,
  render: (data, { shown }) => <WebhookContent {...data} once={shown ?? {}} />,
  submit: changeWebhook,
  notices: {
    changed: "The webhook was changed.",
    enabled: "The webhook is on. It is sent what happens from now on.",
    disabled: "The webhook is off. It is sent nothing, not even what was waiting.",
    "old-secret-ended": "Only the current secret signs requests now.",
    resent: "The event is being sent again.",
  },
});

function WebhookContent({ webhook, log, once }: Shown & { once: ShownOnce }) {
  return (
    <>
      <PageHead
        title={
          <>
            {webhook.url} <WebhookBadge webhook={webhook} />
          </>
        }
        about={`Made ${formatTime(webhook.created_at)}`}
      >
        <Form action="test" class="inline">
          <Button>Send a test</Button>
        </Form>
        <Form action={webhook.enabled ? "disable" : "enable"} class="inline">
          <Button kind="plain">{webhook.enabled ? "Turn off" : "Turn on"}</Button>
        </Form>
      </PageHead>
      {webhook.disabled_reason !== undefined && (
        <p class="notice warning">
          It was turned off by this service: {webhook.disabled_reason} Turn it on once your receiver answers
          again. What happened meanwhile is not sent later.
        </p>
      )}
      {once.secret !== undefined && <SecretOnce secret={once.secret} title="The webhook has a new secret" />}
      {once.test !== undefined && <TestResult result={once.test} />}
      <Panel title="Deliveries of the last 30 days" links={<StateTabs webhook={webhook} />}>
        <Deliveries log={log} mayResend={webhook.enabled} />
        <Pager next={log.next} />
      </Panel>
      <WebhookSettings webhook={webhook} />
      <ConfirmButton
        action="delete"
        label="Delete this webhook"
        question="It is sent nothing any more, and its delivery log is deleted with it."
      />
    </>
  );
}

function TestResult({ result }: { result: WebhookTestResult }) {
  const { success, status, duration_ms: ms, error, response_body: body } = result;
  return (
    <section class={success ? "notice" : "problem"} role="status">
      <h2>{success ? "The test was delivered" : "The test was not accepted"}</h2>
      <p>
        {status === null
          ? `No answer came: ${error ?? ""}`
          : `The receiver answered ${status} after ${ms} ms.`}
      </p>
      {body !== "" && (
        <pre class="answer" tabIndex={0} aria-label="The receiver's answer">
          {body}
        </pre>
      )}
    </section>
  );
}

function StateTabs({ webhook }: { webhook: WebhookRecord }) {
  const { href, owner, query } = useVisit();
  const tabs = [undefined, ...DELIVERY_STATES].map((state) => ({
    label: state === undefined ? "All" : deliveryLabel(state),
    href: href(path`/o/${owner.name}/webhooks/${webhook.id}`, { state }),
    isCurrent: (query.get("state") ?? undefined) === state,
  }));
  return <Tabs label="By state" tabs={tabs} />;
}
