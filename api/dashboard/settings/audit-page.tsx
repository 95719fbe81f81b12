import type { AuditEntryRecord } from "../../../schemas/contracts/audit-entry.js";
import { ACCESS_ACTIONS } from "../../base/access/audit-entries.js";
import { ACTIONS } from "../../base/access/resources.js";
import { path } from "../../web/address.js";
import { page, useVisit } from "../../web/page.js";
import { formatTime } from "../../web/parts/format.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import { Pager, Table } from "../../web/parts/table.js";
import { SettingsTabs } from "./settings-tabs.js";

interface AuditList {
  audit_entries: AuditEntryRecord[];
  next?: string;
}

export const auditPage = page<AuditList>({
  path: "/o/:owner/settings/audit",
  section: "settings",
  load({ api, owner, query }) {
    const asked = ["after", "actor", "action"].map((name) => [name, query.get(name) || undefined]);
    return api<AuditList>({
      path: path`/v2/${owner.name}/audit`,
      query: { ...(Object.fromEntries(asked) as Record<string, string | undefined>), per_page: 50 },
    });
  },
  title: (_, { owner }) => `Audit log · ${owner.name}`,
  render: (list) => <Audit list={list} />,
});

function Audit({ list }: { list: AuditList }) {
  return (
    <>
      <PageHead title="Audit log" about="Changes, exports and sign-ins, newest first." guide="sharing" />
      <SettingsTabs current="audit" />
      <Panel title="Audit log">
        <Filter />
        <Table
          caption="Audit log"
          isStacked
          columns={["Time", "User", "Action", "Target", "Changes"]}
          rows={list.audit_entries.map((entry) => [
            <time dateTime={entry.created_at}>{formatTime(entry.created_at)}</time>,
            <>
              <span class="whole">{entry.actor}</span>
              {entry.token !== undefined && <span class="soft"> (token {entry.token})</span>}
            </>,
            <span class="whole">{entry.action}</span>,
            <>
              <span class="soft">{entry.target.kind}</span> <span class="whole">{entry.target.name}</span>
            </>,
            <code class="text">{changesOf(entry)}</code>,
          ])}
          empty="No entries match these filters."
        />
      </Panel>
      <Pager next={list.next} />
    </>
  );
}

function changesOf({ changes }: AuditEntryRecord): string {
  return Object.entries(changes)
    .map(([field, value]) => `${field}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/** Of the actions that change nothing, only those of access leave entries. */
const RECORDED = [
  ...Object.keys(ACTIONS).filter((action) => !/\.(read|list|list-own|export)$/.test(action)),
  ...ACCESS_ACTIONS,
].sort();

function Filter() {
  const { href, owner, query } = useVisit();
  const chosen = query.get("action");
  return (
    <form method="get" action={href(path`/o/${owner.name}/settings/audit`)} class="row">
      <div class="field">
        <label for="actor">User</label>
        <input id="actor" name="actor" value={query.get("actor") ?? ""} placeholder="Everyone" />
      </div>
      <div class="field">
        <label for="action">Action</label>
        <select id="action" name="action">
          <option value="">All actions</option>
          {RECORDED.map((action) => (
            <option value={action} selected={action === chosen}>
              {action}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">Apply</button>
    </form>
  );
}
