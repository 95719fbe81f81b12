import type {
  NotificationPreview,
  NotificationRecord,
  NotificationSent,
} from "../../../schemas/contracts/notification.js";
import { NOTIFICATION_EVENTS } from "../../../schemas/contracts/notification-event.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, page, useVisit } from "../../web/page.js";
import { ConfirmButton } from "../../web/parts/form.js";
import { formatTime } from "../../web/parts/format.js";
import { Badge, Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import type { Form as Sent } from "../../web/read-form.js";
import { NotificationForm, saveNotification } from "./notification-form.js";
import { CHANNEL_LABELS } from "./channel-labels.js";
import {
  ActionButton,
  type RecordList,
  SettingsList,
  backTo,
  changeRecord,
  listOf,
  loadRecords,
  packageName,
} from "./settings-list.js";

interface NotificationList extends RecordList<NotificationRecord> {
  /** The one that is edited or looked at, by `?edit=` and `?preview=`. */
  edited?: NotificationRecord;
  preview?: NotificationPreview;
}

export const notificationsPage = page<NotificationList>({
  path: "/o/:owner/settings/notifications",
  section: "settings",
  load,
  title: (_, { owner }) => `Notifications · ${owner.name}`,
  render: (list, { shown }) => <Notifications list={list} sent={shown as NotificationSent | undefined} />,
  submit: change,
  notices: {
    created: "Notification created. It covers new periods and events only.",
    changed: "Notification saved.",
    asked: "Confirmation email sent.",
    deleted: "Notification deleted.",
  },
});

async function load(visit: Visit): Promise<NotificationList> {
  const { api, query } = visit;
  const at = listOf(visit, "notifications");
  const [edit, preview] = [query.get("edit"), query.get("preview")];
  const [list, edited, previewed] = await Promise.all([
    loadRecords<NotificationRecord>(visit, "notifications"),
    edit === null ? undefined : api<NotificationRecord>({ path: at + path`/${edit}` }),
    preview === null ? undefined : api<NotificationPreview>({ path: at + path`/${preview}/preview` }),
  ]);
  return { ...list, ...(edited && { edited }), ...(previewed && { preview: previewed }) };
}

interface NotificationsProps {
  list: NotificationList;
  /** The result of a message that was sent by hand. */
  sent: NotificationSent | undefined;
}

function Notifications({ list, sent }: NotificationsProps) {
  const { packages, edited, preview } = list;
  return (
    <SettingsList
      tab="notifications"
      title="Notifications"
      guide="notifications"
      about="Get digests and alerts by email or chat."
      notices={
        <>
          <LinkNotice />
          {sent !== undefined && <SentNotice sent={sent} />}
          {preview !== undefined && <Preview preview={preview} />}
        </>
      }
      list={list}
      table={<NotificationTable list={list} />}
      empty={{
        title: "No notifications yet",
        text: "Start with the weekly digest: every Monday you get the numbers of the previous week.",
      }}
    >
      {edited !== undefined && <NotificationForm packages={packages} edited={edited} />}
      <NotificationForm packages={packages} />
    </SettingsList>
  );
}

/** Without it messages are sent, but their links lead to this machine, or nowhere. */
function LinkNotice() {
  const { ctx } = useVisit();
  if (ctx.state.hasPublicUrl) return null;
  return (
    <p class="notice warning">
      Set <code>PUBLIC_URL</code> to the URL at which people reach this service. Until then, emails and chat
      messages contain no links, or links that only work on the service's own machine, and receivers cannot
      confirm their addresses.
    </p>
  );
}

function SentNotice({ sent: { success, error } }: { sent: NotificationSent }) {
  return success ? (
    <p class="notice" role="status">
      Message sent.
    </p>
  ) : (
    <p class="problem" role="alert">
      The message could not be sent. {error}
    </p>
  );
}

function Preview({ preview: { subject, text } }: { preview: NotificationPreview }) {
  return (
    <Panel title="Preview">
      <p>
        <bdi>{subject}</bdi>
      </p>
      <pre tabIndex={0} role="group" aria-label="Message">
        {text}
      </pre>
    </Panel>
  );
}

function NotificationTable({ list: { records, packages } }: { list: NotificationList }) {
  return (
    <Table
      caption="Notifications"
      isStacked
      columns={["Notify about", "Receiver", "Status", { name: "Actions", isUnnamed: true }]}
      rows={records.map((each) => [
        <>
          {NOTIFICATION_EVENTS[each.event].label}{" "}
          <span class="soft">
            {each.threshold_percent !== undefined && `${each.threshold_percent} % `}
            {packageName(packages, each.package_id)}
          </span>
        </>,
        <>
          <bdi>{each.target}</bdi> <span class="soft">{CHANNEL_LABELS[each.channel]}</span>
        </>,
        <State notification={each} />,
        <Changes notification={each} />,
      ])}
    />
  );
}

function State({ notification }: { notification: NotificationRecord }) {
  const { enabled, confirmed, stopped, last_error: error, last_sent_at: at } = notification;
  const last = at === undefined ? "Nothing sent yet" : `last sent ${formatTime(at)}`;
  if (!enabled) return <Badge>Off</Badge>;
  if (stopped === true)
    return (
      <>
        <Badge kind="warn">Stopped</Badge> The receiver unsubscribed. Only the receiver can undo this.
      </>
    );
  if (confirmed === false)
    return (
      <>
        <Badge kind="busy">Awaiting confirmation</Badge>{" "}
        {error ?? "Nothing is sent until the receiver has confirmed the address."}
      </>
    );
  if (error === undefined)
    return (
      <>
        <Badge kind="good">On</Badge> {last}
      </>
    );
  return (
    <>
      <Badge kind="bad">Not sent</Badge> {error} ({last})
    </>
  );
}

function Changes({ notification }: { notification: NotificationRecord }) {
  const { id, enabled, confirmed, stopped } = notification;
  const { href, here } = useVisit();
  return (
    <div class="actions">
      <a class="button" href={href(here, { preview: id })}>
        Preview
      </a>
      {confirmed !== false && <ActionButton action={`send ${id}`} label="Send now" />}
      {enabled && confirmed === false && stopped !== true && (
        <ActionButton action={`ask ${id}`} label="Resend confirmation" />
      )}
      <a class="button" href={`${href(here, { edit: id })}#edit`}>
        Edit
      </a>
      <ActionButton
        action={`${enabled ? "disable" : "enable"} ${id}`}
        label={enabled ? "Turn off" : "Turn on"}
      />
      <ConfirmButton
        action={`delete ${id}`}
        label="Delete"
        question="The receiver won't get any more messages."
      />
    </div>
  );
}

async function change(visit: Visit, form: Sent): Promise<Submitted> {
  const { api } = visit;
  const list = listOf(visit, "notifications");
  const [verb = "", id = ""] = form.action.split(" ");
  const at = list + path`/${id}`;
  switch (verb) {
    case "create":
      await saveNotification(visit, form, { method: "POST", path: list });
      return backTo(visit, "notifications", "created");
    case "change":
      await saveNotification(visit, form, { method: "PUT", path: at });
      return backTo(visit, "notifications", "changed");
    case "send":
      return { shown: await api<NotificationSent>({ method: "POST", path: `${at}/send` }) };
    case "ask":
      await api({ method: "POST", path: `${at}/confirmation` });
      return backTo(visit, "notifications", "asked");
    default:
      return changeRecord(visit, form, "notifications");
  }
}
