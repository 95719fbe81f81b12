import {
  PERMISSION_LEVELS,
  type PackagePermissionV1,
  type PermissionLevel,
} from "../../../../schemas/contracts/package-permission.js";
import { Button } from "../../parts/button.js";
import { Field, Form, Select } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";

const LEVEL_WORDS: Record<PermissionLevel, string> = {
  admin: "Admin: may do everything with it",
  member: "Member: may read it and its exports",
  blocked: "Blocked: may do nothing with it, whatever the role",
  default: "Default: what the role gives",
};

/** The levels of single users on a package. */
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
