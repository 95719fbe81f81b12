import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { formatTime } from "../../parts/format.js";
import { Panel } from "../../parts/panel.js";
import { KindFields } from "./kind-fields.js";

export function WebhookSettings({ webhook }: { webhook: WebhookRecord }) {
  return (
    <div class="grid">
      <Panel title="Settings">
        <Form action="change">
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

function Secret({ until }: { until: string | undefined }) {
  return (
    <>
      <p>
        Requests are signed, so that your receiver knows that they come from here. The secret is shown once.
      </p>
      {until !== undefined && (
        <>
          <p>Until {formatTime(until)} requests are signed with the old secret as well.</p>
          <ConfirmButton
            action="end-old-secret"
            label="End the old secret now"
            question="Receivers that still have only the old secret will refuse what they are sent."
          />
        </>
      )}
      <ConfirmButton
        action="rotate"
        label="Make a new secret"
        question="For 24 hours requests are signed with both, so that you can change your receiver meanwhile."
      />
    </>
  );
}
