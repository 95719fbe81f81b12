import {
  DELIVERY_STATES,
  type WebhookAttemptRecord,
  type WebhookDeliveryRecord,
  type WebhookTestResult,
} from "../../../../schemas/contracts/webhook-event.js";
import type { WebhookDay, WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { path } from "../../address.js";
import { page, useVisit } from "../../page.js";
import { Button, ConfirmButton, Form } from "../../parts/form.js";
import { formatTime } from "../../parts/format.js";
import { Badge, PageHead, Panel, Tabs } from "../../parts/panel.js";
import { Time } from "../../parts/time.js";
import { Pager } from "../../parts/table.js";
import { KindExamples } from "./kind-examples.js";
import { Day } from "./webhook-day.js";
import { WebhookSettings, changeWebhook } from "./webhook-settings.js";
import { DeliveryBadge, KIND_WORDS, SecretOnce, WebhookBadge, deliveryLabel } from "./webhook-words.js";

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

function WebhookContent({ webhook, day, log, once }: Shown & { once: ShownOnce }) {
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
      <Day day={day} />
      <Panel title="Deliveries of the last 30 days" links={<StateTabs webhook={webhook} />}>
        <Deliveries log={log} mayResend={webhook.enabled} />
        <Pager next={log.next} />
      </Panel>
      <WebhookSettings webhook={webhook} />
      <KindExamples kinds={webhook.event_kinds} />
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

interface DeliveryList {
  deliveries: WebhookDeliveryRecord[];
  next?: string;
}

/** The delivery log, newest first: each opens to its attempts. */
function Deliveries({ log, mayResend }: { log: DeliveryList; mayResend: boolean }) {
  if (log.deliveries.length === 0) return <p class="none">There is none.</p>;
  return (
    <div class="entries">
      {log.deliveries.map((delivery) => (
        <details class="entry">
          <summary>
            <DeliveryBadge state={delivery.state} />
            <span>{delivery.event_type === "test" ? "Test" : KIND_WORDS[delivery.event_type]}</span>
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
  return latest.status === null ? "no answer," : `${latest.status},`;
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
        <p class="none">It was not attempted yet.</p>
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
          <Button kind="plain">Send again</Button>
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
        <Badge kind={isSuccess ? "good" : "bad"}>{status ?? "No answer"}</Badge> {formatTime(at)},{" "}
        {ms.toLocaleString("en")} ms
        {error !== undefined && `: ${error}`}
      </p>
      {body !== "" && (
        <pre class="answer" tabIndex={0} aria-label="The receiver's answer">
          {body}
        </pre>
      )}
    </li>
  );
}
