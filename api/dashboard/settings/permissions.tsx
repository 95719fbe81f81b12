import {
  PERMISSION_LEVELS,
  PUBLIC_KINDS,
  type PackagePermissionV1,
  type PackagePublic,
  type PermissionLevel,
  type PublicKind,
} from "../../../schemas/contracts/package-access.js";
import { AUTOMATED, type Automation } from "../../../schemas/contracts/statistics.js";
import { Button, CopyLine, Field, Form, Select } from "../../web/parts/form.js";
import { GuideLink } from "../../web/parts/guide-link.js";
import { Before } from "../../web/parts/unchanged.js";
import { Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { useVisit } from "../../web/page.js";
import { badgeSnippets, publicAddresses } from "../../web/address.js";

const LEVEL_LABELS: Record<PermissionLevel, string> = {
  admin: "Admin: full access to this package",
  member: "Member: can view statistics and exports",
  blocked: "Blocked: no access, regardless of role",
  default: "Default: the access given by the user's role",
};

export function Permissions({ permissions }: { permissions: readonly PackagePermissionV1[] }) {
  return (
    <Panel title="Permissions">
      <Table
        caption="Permissions"
        columns={["User", "Access"]}
        rows={permissions.map(({ username, permissionLevel }) => [username, LEVEL_LABELS[permissionLevel]])}
        empty="No individual permissions. Everyone has the access of their role."
      />
      <Form action="permission">
        <Field
          name="userQuery"
          label="User"
          required
          autocomplete="off"
          hint="Username or email address. Users outside the organization can get access too."
        />
        <Select
          name="permissionLevel"
          label="Access"
          options={PERMISSION_LEVELS.toReversed().map((value) => ({ value, label: LEVEL_LABELS[value] }))}
          value="member"
        />
        <Button>Save permission</Button>
      </Form>
    </Panel>
  );
}

const KIND_LABELS: Record<PublicKind, string> = {
  none: "Private",
  badge: "Badge only: one number",
  page: "Badge and public page: downloads, versions, clients, platforms, countries",
};

const COUNTED: Record<Automation, string> = { include: "Include", exclude: "Exclude" };

export function Public({ record, shown }: { record: PackageV1; shown: PackagePublic }) {
  return (
    <Panel title="Public access" links={<GuideLink page="badges">Badges guide</GuideLink>}>
      <Form action="public">
        <Before values={{ public: shown.public, automated: shown.automated }} />
        <Select
          name="public"
          label="Visibility"
          options={PUBLIC_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))}
          value={shown.public}
          hint="Companies, IP addresses, cities and variables are never public."
        />
        <Select
          name="automated"
          label="Bots, CI and mirrors"
          options={AUTOMATED.map((value) => ({ value, label: COUNTED[value] }))}
          value={shown.automated}
          hint="Applies to the badge and the public page."
        />
        <Button>Save</Button>
      </Form>
      {shown.public !== "none" && <Snippets record={record} hasPage={shown.public === "page"} />}
    </Panel>
  );
}

function Snippets({
  record: { owner, name, libraryType },
  hasPage,
}: {
  record: PackageV1;
  hasPage: boolean;
}) {
  const { ctx } = useVisit();
  const plain = publicAddresses(ctx.state.publicBase, { owner, name });
  const typed = publicAddresses(ctx.state.publicBase, { owner, name, type: libraryType });
  const snippets = badgeSnippets({ badge: plain.badge, page: hasPage ? plain.page : undefined });
  return (
    <>
      {hasPage && (
        <p>
          <a href={plain.page}>Open public page</a>
        </p>
      )}
      {Object.entries(snippets).map(([markup, text]) => (
        <>
          <h3>{markup}</h3>
          <CopyLine label={`Badge in ${markup}`} text={text} />
        </>
      ))}
      <p class="soft small">
        If you have another public package with this name, add the type:{" "}
        <code>{new URL(typed.badge).search}</code>
      </p>
    </>
  );
}
