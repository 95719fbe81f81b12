import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type {
  NotificationPreview,
  NotificationRecord,
  NotificationSent,
} from "../../../schemas/contracts/notification.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Form } from "../../web/parts/form.js";
import { formatTime } from "../../web/parts/format.js";
import { Badge, EmptyState, PageHead, Panel } from "../../web/parts/panel.js";
import { Pager, Table } from "../../web/parts/table.js";
import type { Form as Sent } from "../../web/read-form.js";
import { packagesOf } from "../../web/artifacts-of.js";
import { NotificationForm, saveNotification } from "./notification-form.js";
import { CHANNEL_WORDS, EVENT_WORDS } from "./notification-words.js";
import { SettingsTabs } from "./settings-tabs.js";

interface NotificationList {
  notifications: NotificationRecord[];
  next?: string;
  packages: readonly PackageV1[];
  /** The one that is edited or looked at, by `?edit=` and `?preview=`. */
  edited?: NotificationRecord;
  preview?: NotificationPreview;
}

export const notificationsPage = page<NotificationList>({
  path: "/o/:owner/settings/notifications",
  section: "settings",
  load,
  title: (_, { owner }) => `Notifications – ${owner.name}`,
  render: (list, { shown }) => <Notifications {...list} sent={shown as NotificationSent | undefined} />,
  submit: change,
  notices: {
    created: "Notification created. It covers periods and events from now on.",
    changed: "Notification saved.",
    asked: "Confirmation mail sent.",
    deleted: "Notification deleted.",
  },
});

async function load(visit: Visit): Promise<NotificationList> {
  const { api, owner, query } = visit;
  const at = path`/v2/${owner.name}/notifications`;
  const [edit, preview] = [query.get("edit"), query.get("preview")];
  const [list, packages, edited, previewed] = await Promise.all([
    api<{ notifications: NotificationRecord[]; next?: string }>({
      path: at,
      query: { after: query.get("after") ?? undefined, per_page: 50 },
    }),
    packagesOf(visit),
    edit === null ? undefined : api<NotificationRecord>({ path: at + path`/${edit}` }),
    preview === null ? undefined : api<NotificationPreview>({ path: at + path`/${preview}/preview` }),
  ]);
  return { ...list, packages, ...(edited && { edited }), ...(previewed && { preview: previewed }) };
}

interface Shown extends NotificationList {
  /** What came of a message that was sent by hand. */
  sent: NotificationSent | undefined;
}

function Notifications({ notifications, next, packages, edited, preview, sent }: Shown) {
  return (
    <>
      <PageHead
        title="Notifications"
        guide="notifications"
        about="Get digests and alerts by e-mail or chat."
      />
      <SettingsTabs current="notifications" />
      <LinkNotice />
      {sent !== undefined && <SentNotice sent={sent} />}
      {preview !== undefined && <Preview preview={preview} />}
      {notifications.length === 0 ? (
        <EmptyState title="No notifications yet">
          <p>Start with the weekly digest: every Monday you get the numbers of the previous week.</p>
        </EmptyState>
      ) : (
        <Panel title="Notifications">
          <NotificationTable notifications={notifications} packages={packages} />
        </Panel>
      )}
      <Pager next={next} />
      {edited !== undefined && <NotificationForm packages={packages} edited={edited} />}
      <NotificationForm packages={packages} />
    </>
  );
}

/** Without it messages are sent, but their links lead to this machine, or nowhere. */
function LinkNotice() {
  const { ctx } = useVisit();
  if (ctx.state.hasPublicUrl) return null;
  return (
    <p class="notice warning">
      Set <code>PUBLIC_URL</code> to the URL at which people reach this service. Until then, mails and chat
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

function NotificationTable({
  notifications,
  packages,
}: Pick<NotificationList, "notifications" | "packages">) {
  const names = new Map(packages.map(({ uuid, name }) => [uuid, name]));
  return (
    <Table
      caption="Notifications"
      isStacked
      columns={[
        { name: "Notify about" },
        { name: "Receiver" },
        { name: "Status" },
        { name: "Change", isUnnamed: true },
      ]}
      rows={notifications.map((each) => [
        <>
          {EVENT_WORDS[each.event]}{" "}
          <span class="soft">
            {each.threshold_percent !== undefined && `${each.threshold_percent} % `}
            <bdi>{names.get(each.package_id ?? "") ?? ""}</bdi>
          </span>
        </>,
        <>
          <bdi>{each.target}</bdi> <span class="soft">{CHANNEL_WORDS[each.channel]}</span>
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
      {confirmed !== false && (
        <Form action={`send ${id}`}>
          <Button kind="quiet">Send now</Button>
        </Form>
      )}
      {enabled && confirmed === false && stopped !== true && (
        <Form action={`ask ${id}`}>
          <Button kind="quiet">Send confirmation again</Button>
        </Form>
      )}
      <a class="button" href={`${href(here, { edit: id })}#edit`}>
        Edit
      </a>
      <Form action={`${enabled ? "disable" : "enable"} ${id}`}>
        <Button kind="quiet">{enabled ? "Turn off" : "Turn on"}</Button>
      </Form>
      <ConfirmButton
        action={`delete ${id}`}
        label="Delete"
        question="The receiver won't get any more messages."
      />
    </div>
  );
}

async function change(visit: Visit, form: Sent): Promise<Submitted> {
  const { api, owner, href } = visit;
  const list = path`/v2/${owner.name}/notifications`;
  const back = (notice: string) => ({ to: href(path`/o/${owner.name}/settings/notifications`, { notice }) });
  const [verb = "", id = ""] = form.action.split(" ");
  const at = list + path`/${id}`;
  switch (verb) {
    case "create":
      await saveNotification(visit, form, { method: "POST", path: list });
      return back("created");
    case "change":
      await saveNotification(visit, form, { method: "PUT", path: at });
      return back("changed");
    case "send":
      return { shown: await api<NotificationSent>({ method: "POST", path: `${at}/send` }) };
    case "ask":
      await api({ method: "POST", path: `${at}/confirmation` });
      return back("asked");
    case "delete":
      await api({ method: "DELETE", path: at });
      return back("deleted");
    default:
      await api({ method: "PUT", path: at, body: { enabled: verb === "enable" } });
      return back("changed");
  }
}
