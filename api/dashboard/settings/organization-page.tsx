import type { OrganizationV1 } from "../../../schemas/contracts/organization.js";
import { path } from "../../web/address.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { Before, type Values, requireUnchanged } from "../../web/parts/unchanged.js";
import { type Form as Sent, faultsAt } from "../../web/read-form.js";
import { formatTime } from "../../web/parts/format.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import { SettingsTabs } from "./settings-tabs.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { Table } from "../../web/parts/table.js";
import { TYPES, packagesUnlessStranger } from "../../web/artifacts-of.js";

export const organizationPage = page<OrganizationV1>({
  path: "/o/:owner/settings/organization",
  section: "settings",
  load: ({ api, owner }) => api<OrganizationV1>({ path: path`/v1/organizations/${owner.name}` }),
  title: ({ name }) => `Organization · ${name}`,
  render: (organization) => <Organization organization={organization} />,
  submit: changeOrganization,
  notices: { changed: "Organization saved." },
});

async function changeOrganization({ api, owner, href }: Visit, form: Sent) {
  const website = form.optional("website");
  const body = {
    name: form.text("name"),
    description: form.text("description"),
    billingEmail: form.text("billingEmail"),
    ...(website !== undefined && { website }),
  };
  const at = path`/v1/organizations/${owner.name}`;
  requireUnchanged(form, valuesOf(await api<OrganizationV1>({ path: at })));
  const changed = api<OrganizationV1>({ method: "PUT", path: at, body });
  const { name } = await faultsAt({ "already-exists": "name" }, changed);
  return { to: href(path`/o/${name}/settings/organization`, { notice: "changed" }) };
}

function valuesOf({ name, description, website, billingEmail }: OrganizationV1): Values {
  return { name, description, website, billingEmail };
}

function Organization({ organization }: { organization: OrganizationV1 }) {
  const { owner } = useVisit();
  const { name, description, website, billingEmail, createdAt } = organization;
  return (
    <>
      <PageHead title="Organization" />
      <SettingsTabs current="organization" />
      <Panel title="Organization">
        {mayManage(owner) ? (
          <Form action="change">
            <Before values={valuesOf(organization)} />
            <Field
              name="name"
              label="Name"
              value={name}
              required
              hint="Renaming changes the URLs of the API, the dashboard and badges. Others can take the old name immediately."
            />
            <Field name="description" label="Description" value={description} rows={3} />
            <Field name="website" label="Website" value={website} />
            <Field name="billingEmail" label="Billing email" value={billingEmail} required />
            <Button>Save</Button>
          </Form>
        ) : (
          <dl class="facts">
            <dt>Description</dt>
            <dd>{description || "None"}</dd>
            <dt>Website</dt>
            <dd>{website ?? "None"}</dd>
            <dt>Billing email</dt>
            <dd>{billingEmail}</dd>
          </dl>
        )}
        <p class="soft small">Created {formatTime(createdAt)}</p>
      </Panel>
    </>
  );
}

export const packagesPage = page<PackageV1[]>({
  path: "/o/:owner/settings/packages",
  section: "settings",
  load: (visit) => packagesUnlessStranger(visit),
  title: (_, { owner }) => `Packages · ${owner.name}`,
  render: (packages) => <Packages packages={packages} />,
  notices: { deleted: "Package deleted." },
});

function Packages({ packages }: { packages: readonly PackageV1[] }) {
  const { owner, href } = useVisit();
  return (
    <>
      <PageHead title="Packages" />
      <SettingsTabs current="packages" />
      <Panel title="Packages">
        <Table
          caption="Packages"
          columns={["Package", "Type", "Description"]}
          rows={packages.map(({ uuid, name, libraryType, shortDescription }) => [
            <a href={href(path`/o/${owner.name}/settings/packages/${uuid}`)}>{name}</a>,
            TYPES[libraryType ?? "other"],
            shortDescription,
          ])}
          empty="No packages yet."
        />
      </Panel>
    </>
  );
}
