import { path } from "../../address.js";
import type { Viewer, Visit } from "../../page.js";
import { Button } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";
import { section } from "./account-section.js";

/** The organizations that the person belongs to, and a new one. */
export const organizations = section({
  load: () => undefined,
  render: (_, { user, href }) => (
    <div id="organizations">
      <Panel title="Organizations">
        <Table
          caption="Organizations"
          columns={[{ name: "Name" }, { name: "You are" }, { name: "Export of data" }]}
          rows={user.organizations.map((each) => rowOf(each, href))}
          empty="You belong to none."
        />
        <details class="unfold">
          <summary>Make an organization</summary>
          <Form action="make-organization" class="form narrow">
            <Field name="name" label="Name" required />
            <Field name="description" label="Description" />
            <Field
              name="billingEmail"
              label="E-mail address for bills"
              type="email"
              value={user.email}
              required
            />
            <Field name="website" label="Website" placeholder="https://" />
            <Button>Make the organization</Button>
          </Form>
        </details>
      </Panel>
    </div>
  ),
  forms: {
    async "make-organization"({ api, href }, form) {
      const name = form.text("name");
      const website = form.optional("website");
      const texts = { description: form.text("description"), billingEmail: form.text("billingEmail") };
      const body = { name, ...texts, ...(website !== undefined && { website }) };
      await api({ method: "POST", path: "/v1/organizations", body });
      return { to: href(path`/o/${name}`) };
    },
  },
});

function rowOf({ name, role, exportEnabled }: Viewer["organizations"][number], href: Visit["href"]) {
  return [<a href={href(path`/o/${name}`)}>{name}</a>, role, exportEnabled ? "granted" : "not granted"];
}
