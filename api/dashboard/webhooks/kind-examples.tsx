import {
  WEBHOOK_EVENTS,
  WEBHOOK_EVENT_KINDS,
  type WebhookEventKind,
  exampleEvent,
} from "../../../schemas/contracts/webhook-event.js";
import { docsAddress } from "../../web/guide-files.js";
import { useVisit } from "../../web/page.js";
import { CopyLine } from "../../web/parts/form.js";
import { Panel } from "../../web/parts/panel.js";

/** Each kind of event with the body that a receiver may get. */
export function KindExamples({ kinds = WEBHOOK_EVENT_KINDS }: { kinds?: readonly WebhookEventKind[] }) {
  const visit = useVisit();
  return (
    <Panel title="Example payloads" links={<a href={docsAddress(visit)}>API reference</a>}>
      <div class="entries">
        {kinds.map((kind) => (
          <details class="entry">
            <summary>
              <code>{kind}</code>
              <span class="end soft">{WEBHOOK_EVENTS[kind].when}</span>
            </summary>
            <div class="within">
              <CopyLine
                label={`Example of ${kind}`}
                text={JSON.stringify(exampleEvent(kind, visit.owner.name), undefined, 2)}
              />
            </div>
          </details>
        ))}
      </div>
    </Panel>
  );
}
