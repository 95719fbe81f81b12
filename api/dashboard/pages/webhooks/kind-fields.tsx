import { WEBHOOK_EVENT_KINDS } from "../../../../schemas/contracts/webhook-event.js";
import { Check } from "../../parts/form.js";
import type { Form } from "../../read-form.js";
import { KIND_WORDS } from "./webhook-words.js";

/** The kinds of events that a webhook is sent. */
export function KindFields({ chosen }: { chosen: readonly string[] }) {
  return (
    <fieldset>
      <legend>Tell it when</legend>
      {WEBHOOK_EVENT_KINDS.filter((kind) => kind !== "test").map((kind) => (
        <Check name="event_kinds" value={kind} label={KIND_WORDS[kind]} checked={chosen.includes(kind)} />
      ))}
      {chosen.includes("test") && <input type="hidden" name="event_kinds" value="test" />}
    </fieldset>
  );
}

export function kindsOf(form: Form): string[] {
  return form.all("event_kinds");
}
