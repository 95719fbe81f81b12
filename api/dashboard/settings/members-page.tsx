import { type OrganizationMemberV1, ROLES, type Role } from "../../../schemas/contracts/organization.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, type VisitedOwner, mayManage, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Field, Form, Select } from "../../web/parts/form.js";
import { type Form as Sent, UNKNOWN_FORM, faultsAt } from "../../web/read-form.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import { ROLE_LABELS } from "../role-labels.js";
import { SettingsTabs } from "./settings-tabs.js";

export const membersPage = page<OrganizationMemberV1[]>({
  path: "/o/:owner/settings",
  section: "settings",
  load({ api, owner, ctx, href }) {
    if (owner.kind === "organization") return api<OrganizationMemberV1[]>({ path: membersOf(owner) });
    ctx.redirect(href(path`/o/${owner.name}/settings/packages`));
    return [];
  },
  title: (_, { owner }) => `Members · ${owner.name}`,
  render: (members) => <Members members={members} />,
  submit: changeMembers,
  notices: {
    added: "Member added.",
    changed: "Role changed.",
    removed: "Member removed.",
  },
});

function membersOf({ name }: VisitedOwner): string {
  return path`/v1/organizations/${name}/users`;
}

/** The form of a row is named after its member, so that a fault shows in that row. */
async function changeMembers({ api, owner, user, href }: Visit, form: Sent): Promise<Submitted> {
  const [verb = "", member = ""] = form.action.split(" ");
  const to = (notice: string) => ({ to: href(path`/o/${owner.name}/settings`, { notice }) });
  const put = (username: string) =>
    api({ method: "POST", path: membersOf(owner), body: { username, role: form.text("role") } });
  switch (verb) {
    case "add":
      await faultsAt(
        { "unknown-user": "username", "cannot-remove-last-owner": "role" },
        put(form.text("username")),
      );
      return to("added");
    case "role":
      await put(member);
      return to("changed");
    case "remove":
      await api({ method: "DELETE", path: membersOf(owner) + path`/${member}` });
      return member === user.username ? { to: href("") } : to("removed");
    default:
      throw new Problem("invalid-query", UNKNOWN_FORM);
  }
}

function Members({ members }: { members: readonly OrganizationMemberV1[] }) {
  const { owner } = useVisit();
  const owners = members.filter(({ role }) => role === "owner").length;
  return (
    <>
      <PageHead title="Members" guide="sharing" />
      <SettingsTabs current="members" />
      <Panel title="Members">
        <Table
          caption="Members"
          columns={["Username", "Role", { name: "Actions", isUnnamed: true }]}
          rows={members.map((member) => {
            const isLast = member.role === "owner" && owners === 1;
            return [
              member.username,
              <RoleCell member={member} isLast={isLast} />,
              <Removal member={member} isLast={isLast} />,
            ];
          })}
        />
        {owners === 1 && (
          <p class="hint">The last owner can't be removed. Make another member an owner first.</p>
        )}
        <p class="hint">
          Members can view statistics and companies. Admins can also change packages, imports, webhooks and
          members. Only owners can add and remove owners.
        </p>
      </Panel>
      {mayManage(owner) && (
        <Panel title="Add member">
          <Form action="add">
            <Field name="username" label="Username" required autocomplete="off" />
            <Select name="role" label="Role" options={rolesFor(owner)} value="member" />
            <Button>Add member</Button>
          </Form>
        </Panel>
      )}
    </>
  );
}

function rolesFor({ role }: VisitedOwner): { value: Role; label: string }[] {
  const given = ROLES.filter((each) => each !== "owner" || role === "owner");
  return given.map((value) => ({ value, label: ROLE_LABELS[value] }));
}

interface RowProps {
  member: OrganizationMemberV1;
  isLast: boolean;
}

function mayChange(owner: VisitedOwner, { role }: OrganizationMemberV1): boolean {
  return owner.role === "owner" || (owner.role === "admin" && role !== "owner");
}

function RoleCell({ member, isLast }: RowProps) {
  const { owner } = useVisit();
  if (isLast || !mayChange(owner, member)) return <>{ROLE_LABELS[member.role]}</>;
  return (
    <Form action={`role ${member.username}`} class="row tight">
      <select name="role" aria-label={`Role of ${member.username}`}>
        {rolesFor(owner).map(({ value, label }) => (
          <option value={value} selected={value === member.role}>
            {label}
          </option>
        ))}
      </select>
      <Button kind="plain">Save</Button>
    </Form>
  );
}

function Removal({ member, isLast }: RowProps) {
  const { owner, user } = useVisit();
  const isViewer = member.username === user.username;
  if (isLast && (isViewer || mayChange(owner, member)))
    return (
      <Button kind="plain" disabled>
        {isViewer ? "Leave" : "Remove"}
      </Button>
    );
  if (!isViewer && !mayChange(owner, member)) return null;
  return (
    <ConfirmButton
      action={`remove ${member.username}`}
      label={isViewer ? "Leave" : "Remove"}
      question={
        isViewer
          ? `You lose access to ${owner.name}. You keep permissions on individual packages.`
          : `${member.username} loses access to ${owner.name}, but keeps permissions on individual packages.`
      }
    />
  );
}
