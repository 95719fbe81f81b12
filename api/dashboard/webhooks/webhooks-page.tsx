import { WEBHOOK_EVENT_KINDS } from "../../../schemas/contracts/webhook-event.js";
import type { ListedWebhook, WebhookRecord } from "../../../schemas/contracts/webhook.js";
import { path } from "../../web/address.js";
import { type Visit, page, useVisit } from "../../web/page.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { GuideLink } from "../../web/parts/guide-link.js";
import { EmptyState, PageHead, Panel } from "../../web/parts/panel.js";
import { type Form as Sent, faultsAt } from "../../web/read-form.js";
import { formatCount } from "../../web/parts/format.js";
import { Pager, Table } from "../../web/parts/table.js";
import { Success, latency } from "./webhook-day.js";
import { KindExamples } from "./kind-examples.js";
import { KindFields, SecretOnce, WebhookBadge, kindsOf } from "./webhook-labels.js";

interface WebhookList {
  webhooks: ListedWebhook[];
  next?: string;
}

type Created = WebhookRecord & { secret: string };

export const webhooksPage = page<WebhookList>({
  path: "/o/:owner/webhooks",
  section: "webhooks",
  load: ({ api, owner, query }) =>
    api<WebhookList>({
      path: path`/v2/${owner.name}/webhooks`,
      query: { after: query.get("after") ?? undefined, per_page: 50 },
    }),
  title: (_, { owner }) => `Webhooks · ${owner.name}`,
  render: (list, { shown }) => <Webhooks {...list} created={shown as Created | undefined} />,
  submit: createWebhook,
  notices: { deleted: "Webhook and its delivery log deleted." },
});

async function createWebhook({ api, owner }: Visit, form: Sent) {
  const body = { url: form.text("url"), event_kinds: kindsOf(form) };
  const created = api<Created>({ method: "POST", path: path`/v2/${owner.name}/webhooks`, body });
  return { shown: await faultsAt({ "webhook-url-not-allowed": "url", "too-many-webhooks": "url" }, created) };
}

function Webhooks({ webhooks, next, created }: WebhookList & { created: Created | undefined }) {
  const { owner, href } = useVisit();
  return (
    <>
      <PageHead
        title="Webhooks"
        about="Send events to your own server as signed HTTP requests."
        guide="webhooks"
      />
      {created !== undefined && (
        <SecretOnce secret={created.secret} title="Webhook created">
          <a class="button primary" href={href(path`/o/${owner.name}/webhooks/${created.id}`)}>
            Send test event
          </a>
        </SecretOnce>
      )}
      {webhooks.length > 0 ? (
        <Panel title="Endpoints">
          <WebhookTable webhooks={webhooks} />
        </Panel>
      ) : (
        <EmptyState title="No webhooks yet">
          <p>
            Use a webhook, for example, to notify your CRM when a company starts to evaluate one of your
            packages. The guide has <GuideLink page="webhooks">receivers to copy</GuideLink> in shell, Node.js
            and Python.
          </p>
        </EmptyState>
      )}
      <Pager next={next} />
      <Panel title="New webhook">
        <Form action="create">
          <Field
            name="url"
            label="URL"
            type="url"
            required
            placeholder="https://crm.example.org/hooks/stages"
            hint="An http or https URL that is reachable from the internet and returns a 2xx status within five seconds."
          />
          <KindFields chosen={WEBHOOK_EVENT_KINDS.filter((kind) => kind !== "test")} />
          <Button>Create webhook</Button>
        </Form>
      </Panel>
      <KindExamples />
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly ListedWebhook[] }) {
  const { owner, href } = useVisit();
  return (
    <Table
      caption="Webhooks"
      columns={[
        "URL",
        "Status",
        "Delivered (24 hours)",
        { name: "Attempts", isNumber: true },
        { name: "Median response time", isNumber: true },
      ]}
      rows={webhooks.map((webhook) => [
        <a href={href(path`/o/${owner.name}/webhooks/${webhook.id}`)}>{webhook.url}</a>,
        <WebhookBadge webhook={webhook} />,
        <Success day={webhook.last_24_hours} />,
        <>
          {formatCount(webhook.last_24_hours.attempts)}
          <span class="unit"> attempts</span>
        </>,
        <>
          {latency(webhook.last_24_hours.median_ms)}
          <span class="unit"> median</span>
        </>,
      ])}
      isStacked
    />
  );
}
