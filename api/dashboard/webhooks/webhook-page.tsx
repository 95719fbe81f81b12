import {
  DELIVERY_STATES,
  WEBHOOK_EVENTS,
  type WebhookAttemptRecord,
  type WebhookDeliveryRecord,
  type WebhookTestResult,
} from "../../../schemas/contracts/webhook-event.js";
import type { WebhookDay, WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { path } from "../../web/address.js";
import { page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Form } from "../../web/parts/form.js";
import { formatTime } from "../../web/parts/format.js";
import { Badge, PageHead, Panel, Tabs } from "../../web/parts/panel.js";
import { Time } from "../../web/parts/time.js";
import { Pager } from "../../web/parts/table.js";
import { KindExamples } from "./kind-examples.js";
import { Day } from "./webhook-day.js";
import { WebhookSettings, changeWebhook } from "./webhook-settings.js";
import { DeliveryBadge, SecretOnce, WebhookBadge, deliveryLabel } from "./webhook-labels.js";

interface Shown {
  webhook: WebhookRecord;
  day: WebhookDay;
  log: DeliveryList;
}

interface ShownOnce {
  test?: WebhookTestResult;
  secret?: string;
}

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
    const [webhook, day, log] = await Promise.all([
      api<WebhookRecord>({ path: at }),
      api<WebhookDay>({ path: `${at}/last-24-hours` }),
      api<DeliveryList>({ path: `${at}/deliveries`, query: asked }),
    ]);
    return { webhook, day, log };
  },
  title: ({ webhook }) => `${webhook.url} · Webhooks`,
  render: (data, { shown }) => <WebhookContent {...data} once={shown ?? {}} />,
  submit: changeWebhook,
  notices: {
    changed: "Webhook saved.",
    enabled: "Webhook enabled. It will now receive new events.",
    disabled: "Webhook disabled. Pending deliveries were cancelled.",
    "old-secret-ended": "Old secret revoked. Requests are signed with the current secret only.",
    resent: "Delivery retry queued.",
  },
});

function WebhookContent({ webhook, day, log, once }: Shown & { once: ShownOnce }) {
  return (
    <>
      <PageHead
        title={
          <>
            {webhook.url} <WebhookBadge webhook={webhook} />
          </>
        }
        about={`Created ${formatTime(webhook.created_at)}`}
      >
        <Form action="test" class="inline">
          <Button>Send test event</Button>
        </Form>
        <Form action={webhook.enabled ? "disable" : "enable"} class="inline">
          <Button kind="plain">{webhook.enabled ? "Disable webhook" : "Enable webhook"}</Button>
        </Form>
      </PageHead>
      {webhook.disabled_reason !== undefined && (
        <p class="notice warning">
          Disabled automatically: {webhook.disabled_reason} Enable it once your receiver responds again.
          Events that occur while it is disabled are not sent.
        </p>
      )}
      {once.secret !== undefined && <SecretOnce secret={once.secret} title="New secret created" />}
      {once.test !== undefined && <TestResult result={once.test} />}
      <Day day={day} />
      <Panel title="Deliveries in the last 30 days" links={<StateTabs webhook={webhook} />}>
        <Deliveries log={log} mayResend={webhook.enabled} />
        <Pager next={log.next} />
      </Panel>
      <WebhookSettings webhook={webhook} />
      <KindExamples kinds={webhook.event_kinds} />
      <ConfirmButton
        action="delete"
        label="Delete webhook"
        question="No more events will be sent, and the delivery log will be deleted."
      />
    </>
  );
}

function TestResult({ result }: { result: WebhookTestResult }) {
  const { success, status, duration_ms: ms, error, response_body: body } = result;
  return (
    <section class={success ? "notice" : "problem"} role="status">
      <h2>{success ? "Test event delivered" : "Test event failed"}</h2>
      <p>
        {status === null
          ? `No response: ${error ?? ""}`
          : `The receiver returned status ${status} after ${ms} ms.`}
      </p>
      <ResponseBody body={body} />
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
  return <Tabs label="Status" tabs={tabs} />;
}

interface DeliveryList {
  deliveries: WebhookDeliveryRecord[];
  next?: string;
}

/** The delivery log, newest first: each opens to its attempts. */
function Deliveries({ log, mayResend }: { log: DeliveryList; mayResend: boolean }) {
  const { query } = useVisit();
  if (log.deliveries.length === 0)
    return (
      <p class="none">
        {query.has("state")
          ? "No deliveries with this status."
          : "No deliveries yet. They appear once an event is sent."}
      </p>
    );
  return (
    <div class="entries">
      {log.deliveries.map((delivery) => (
        <details class="entry">
          <summary>
            <DeliveryBadge state={delivery.state} />
            <span>{WEBHOOK_EVENTS[delivery.event_type].label}</span>
            <span class="end soft">
              {lastAnswer(delivery)} <Time at={delivery.created_at} />
            </span>
          </summary>
          <Delivery delivery={delivery} mayResend={mayResend} />
        </details>
      ))}
    </div>
  );
}

function lastAnswer({ attempts: [latest] }: WebhookDeliveryRecord): string {
  if (latest === undefined) return "";
  return latest.status === null ? "No response," : `${latest.status},`;
}

function Delivery({ delivery, mayResend }: { delivery: WebhookDeliveryRecord; mayResend: boolean }) {
  return (
    <div class="within">
      <p class="soft small">
        Event <code>{delivery.event_id}</code>
        {delivery.next_attempt_at !== undefined && (
          <>
            , next attempt <Time at={delivery.next_attempt_at} />
          </>
        )}
      </p>
      {delivery.attempts.length === 0 ? (
        <p class="none">Not attempted yet.</p>
      ) : (
        <ol class="attempts">
          {delivery.attempts.map((attempt) => (
            <Attempt attempt={attempt} />
          ))}
        </ol>
      )}
      {mayResend && delivery.state !== "pending" && (
        <Form action="resend" class="inline">
          <input type="hidden" name="delivery" value={delivery.id} />
          <Button kind="plain">Retry delivery</Button>
        </Form>
      )}
    </div>
  );
}

function Attempt({ attempt }: { attempt: WebhookAttemptRecord }) {
  const { status, duration_ms: ms, error, response_body: body = "", started_at: at } = attempt;
  const isSuccess = status !== null && status >= 200 && status < 300;
  return (
    <li>
      <p>
        <Badge kind={isSuccess ? "good" : "bad"}>{status ?? "No response"}</Badge> {formatTime(at)},{" "}
        {ms.toLocaleString("en")} ms
        {error !== undefined && `: ${error}`}
      </p>
      <ResponseBody body={body} />
    </li>
  );
}

function ResponseBody({ body }: { body: string }) {
  if (body === "") return null;
  return (
    <pre class="answer" tabIndex={0} aria-label="Response body">
      {body}
    </pre>
  );
}
