import {
  PERMISSION_LEVELS,
  PUBLIC_KINDS,
  type PackagePermissionV1,
  type PackagePublic,
  type PermissionLevel,
  type PublicKind,
} from "../../../../schemas/contracts/package-access.js";
import { AUTOMATED, type Automation } from "../../../../schemas/contracts/statistics.js";
import { Button, CopyLine, Field, Form, Select } from "../../parts/form.js";
import { GuideLink } from "../../parts/guide-link.js";
import { Before } from "../../parts/unchanged.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { useVisit } from "../../page.js";
import { badgeSnippets, publicAddresses } from "../../address.js";

const LEVEL_WORDS: Record<PermissionLevel, string> = {
  admin: "Admin: may do everything with it",
  member: "Member: may read it and its exports",
  blocked: "Blocked: may do nothing with it, whatever the role",
  default: "Default: what the role gives",
};

export function Permissions({ permissions }: { permissions: readonly PackagePermissionV1[] }) {
  return (
    <Panel title="Permissions">
      <Table
        caption="Permissions"
        columns={[{ name: "User" }, { name: "Level" }]}
        rows={permissions.map(({ username, permissionLevel }) => [username, LEVEL_WORDS[permissionLevel]])}
        empty="Everybody has what their role gives them."
      />
      <Form action="permission">
        <Field
          name="userQuery"
          label="User"
          required
          autocomplete="off"
          hint="A username or an e-mail address. Also of people outside of the organization."
        />
        <Select
          name="permissionLevel"
          label="Level"
          options={PERMISSION_LEVELS.toReversed().map((value) => ({ value, label: LEVEL_WORDS[value] }))}
          value="member"
        />
        <Button>Set the level</Button>
      </Form>
    </Panel>
  );
}

const WORDS: Record<PublicKind, string> = {
  none: "Nothing",
  badge: "A badge: one number",
  page: "A badge and a page: downloads, versions, clients, platforms, countries",
};

const COUNTED: Record<Automation, string> = { include: "Counted", exclude: "Not counted" };

export function Public({ record, shown }: { record: PackageV1; shown: PackagePublic }) {
  return (
    <Panel title="For everybody" links={<GuideLink page="badges">Badges</GuideLink>}>
      <Form action="public">
        <Before values={{ public: shown.public, automated: shown.automated }} />
        <Select
          name="public"
          label="Everybody may see"
          options={PUBLIC_KINDS.map((value) => ({ value, label: WORDS[value] }))}
          value={shown.public}
          hint="Never companies, addresses, cities or variables."
        />
        <Select
          name="automated"
          label="Downloads of bots, continuous integration and mirrors"
          options={AUTOMATED.map((value) => ({ value, label: COUNTED[value] }))}
          value={shown.automated}
          hint="On the badge and the page, which says so."
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
          <a href={plain.page}>The public page</a>
        </p>
      )}
      {Object.entries(snippets).map(([markup, text]) => (
        <>
          <h3>{markup}</h3>
          <CopyLine label={`The badge in ${markup}`} text={text} />
        </>
      ))}
      <p class="soft small">
        If another public package here has this name, add the type: <code>{new URL(typed.badge).search}</code>
      </p>
    </>
  );
}
