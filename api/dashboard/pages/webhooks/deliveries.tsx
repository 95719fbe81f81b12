import type {
  WebhookAttemptRecord,
  WebhookDeliveryRecord,
} from "../../../../schemas/contracts/webhook-event.js";
import { Badge } from "../../parts/tiles.js";
import { Button } from "../../parts/button.js";
import { Form } from "../../parts/form.js";
import { formatTime } from "../../parts/format.js";
import { DeliveryBadge, KIND_WORDS } from "./webhook-words.js";

export interface DeliveryList {
  deliveries: WebhookDeliveryRecord[];
  next?: string;
}

/** The delivery log, newest first: each opens to its attempts. */
export function Deliveries({ log, mayResend }: { log: DeliveryList; mayResend: boolean }) {
  if (log.deliveries.length === 0) return <p class="none">There is none.</p>;
  return (
    <div class="entries">
      {log.deliveries.map((delivery) => (
        <details class="entry">
          <summary>
            <DeliveryBadge state={delivery.state} />
            <span>{delivery.event_type === "test" ? "Test" : KIND_WORDS[delivery.event_type]}</span>
            <span class="end soft">
              {lastAnswer(delivery)}{" "}
              <time dateTime={delivery.created_at}>{formatTime(delivery.created_at)}</time>
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
        {delivery.next_attempt_at !== undefined && `, next attempt ${formatTime(delivery.next_attempt_at)}`}
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
