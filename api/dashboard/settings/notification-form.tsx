import type { PackageV1 } from "../../../schemas/contracts/package.js";
import {
  NOTIFICATION_EVENTS,
  NOTIFICATION_EVENT_NAMES,
  defaultThreshold,
  describeThresholds,
  isOfOwner,
} from "../../../schemas/contracts/notification-event.js";
import { NOTIFICATION_CHANNELS, type NotificationRecord } from "../../../schemas/contracts/notification.js";
import type { ApiCall } from "../../web/call-api.js";
import type { Visit } from "../../web/page.js";
import { Button, Field, Form, Select } from "../../web/parts/form.js";
import { Panel } from "../../web/parts/panel.js";
import { type Form as Sent, faultsAt } from "../../web/read-form.js";
import { PackageSelect } from "./settings-list.js";
import { CHANNEL_LABELS } from "./channel-labels.js";

interface FormProps {
  packages: readonly PackageV1[];
  /** A new one without it. */
  edited?: NotificationRecord;
}

export function NotificationForm({ packages, edited }: FormProps) {
  const threshold = edited?.threshold_percent;
  return (
    <Panel title={edited === undefined ? "New notification" : "Edit notification"}>
      <div id={edited && "edit"} />
      <Form action={edited === undefined ? "create" : `change ${edited.id}`}>
        <Select
          name="event"
          label="Notify about"
          value={edited?.event}
          options={NOTIFICATION_EVENT_NAMES.map((value) => ({
            value,
            label: NOTIFICATION_EVENTS[value].label,
          }))}
        />
        <PackageSelect label="Package" none="All" packages={packages} value={edited?.package_id} />
        <Field
          name="threshold_percent"
          label="Threshold (%)"
          value={threshold === undefined ? undefined : String(threshold)}
          hint={`${describeThresholds((event) => NOTIFICATION_EVENTS[event].label)}.`}
        />
        <Select
          name="channel"
          label="Channel"
          value={edited?.channel}
          options={NOTIFICATION_CHANNELS.map((value) => ({ value, label: CHANNEL_LABELS[value] }))}
        />
        <Field
          name="target"
          label="Email address or URL"
          required={edited === undefined}
          placeholder={edited?.target}
          hint={
            edited === undefined
              ? "An email address, or the URL of the chat's incoming webhook. The URL is kept secret. Receivers who " +
                "are not members first get an email that asks them to confirm."
              : `Leave empty to keep ${edited.target}.`
          }
        />
        <Button>{edited === undefined ? "Create notification" : "Save"}</Button>
      </Form>
    </Panel>
  );
}

/** What the chosen event has no use for is not sent. */
export async function saveNotification(
  { api }: Visit,
  form: Sent,
  call: Pick<ApiCall, "method" | "path">,
): Promise<void> {
  const event = form.text("event");
  const threshold = form.optional("threshold_percent");
  const body = {
    event,
    channel: form.text("channel"),
    package: isOfOwner(event) ? null : (form.optional("package") ?? null),
    ...(defaultThreshold(event) !== null &&
      threshold !== undefined && { threshold_percent: numberOf(threshold) }),
    ...(form.text("target") !== "" && { target: form.text("target") }),
  };
  const fields = {
    "webhook-url-not-allowed": "target",
    "email-not-configured": "channel",
    "too-many-notifications": "event",
  };
  await faultsAt(fields, api({ ...call, body }));
}

/** A text that is no number is for the API to refuse. */
function numberOf(text: string): number | string {
  return Number.isNaN(Number(text)) ? text : Number(text);
}
