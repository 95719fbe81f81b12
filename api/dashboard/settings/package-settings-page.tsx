import type { PackagePermissionV1, PackagePublic } from "../../../schemas/contracts/package-access.js";
import type { EndOfLifeUse } from "../../../schemas/contracts/end-of-life.js";
import type { PackageDomainV1, PackageRouteV1 } from "../../../schemas/contracts/package-routing.js";
import type { PackageUpstream, PackageV1 } from "../../../schemas/contracts/package.js";
import { MIB } from "../../base/http/body-limits.js";
import { path } from "../../web/address.js";
import { type Visit, page, useVisit } from "../../web/page.js";
import { Button, ConfirmButton, Field, Form } from "../../web/parts/form.js";
import { Before } from "../../web/parts/unchanged.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import { ifAllowed, packageOf, upstreamOf } from "../../web/artifacts-of.js";
import { changePackage, valuesOfPackage } from "./change-package.js";
import { loadEndsOfLife } from "../statistics/adoption.js";
import { EndsOfLife } from "./ends-of-life.js";
import { Domains, HostRecord, Routes, verificationOf } from "./domains.js";
import { Permissions, Public } from "./permissions.js";
import { SettingsTabs } from "./settings-tabs.js";
import { ImageFields, IndexField } from "./upstream-fields.js";

interface PackageSettings {
  record: PackageV1;
  /** These three are undefined where the viewer is no admin of the package: then nothing may be changed either. */
  permissions: PackagePermissionV1[] | undefined;
  upstream: PackageUpstream | undefined;
  shown: PackagePublic | undefined;
  ends: EndOfLifeUse[] | undefined;
  /** Undefined for types that have none. */
  routes: PackageRouteV1[] | undefined;
  domains: PackageDomainV1[] | undefined;
}

export const packageSettingsPage = page<PackageSettings>({
  path: "/o/:owner/settings/packages/:package",
  section: "settings",
  load: loadSettings,
  title: ({ record }) => `${record.name} settings`,
  render: (settings) => <PackageContent {...settings} />,
  // The longer description is sent twice: as it was and as it shall be.
  forms: { bytesMax: 2 * MIB },
  submit: changePackage,
  notices: {
    changed: "Package saved.",
    "permission-set": "Permission saved.",
    "route-added": "Route added.",
    "route-removed": "Route removed.",
    "public-set": "Public visibility saved.",
    "end-of-life-set": "End-of-life dates saved.",
    "domain-added": "Domain added.",
    looked: "DNS checked. The status below is current.",
    "domain-removed": "Domain removed.",
  },
});

async function loadSettings(visit: Visit): Promise<PackageSettings> {
  const { api, owner } = visit;
  const record = await packageOf(visit);
  const at = path`/v1/packages/${record.uuid}`;
  const type = record.libraryType ?? "other";
  const ofOwner = path`/v2/packages/${owner.name}/${record.uuid}`;
  const [permissions, upstream, shown, ends, routes, domains] = await Promise.all([
    ifAllowed(api<PackagePermissionV1[]>({ path: `${at}/permissions` })),
    ifAllowed(upstreamOf(visit, record.uuid)),
    ifAllowed(api<PackagePublic>({ path: `${ofOwner}/public` })),
    loadEndsOfLife(visit, record.uuid),
    type === "other" ? api<PackageRouteV1[]>({ path: `${at}/routes` }) : undefined,
    type === "other" || type === "pypi" ? api<PackageDomainV1[]>({ path: `${at}/domains` }) : undefined,
  ]);
  return { record, permissions, upstream, shown, ends, routes, domains };
}

/** The host of images, where hosts have to be verified. */
function ImageHost({ upstream }: { upstream: PackageUpstream }) {
  const state = verificationOf(upstream);
  if (state === undefined) return null;
  return (
    <Panel title="Image host">
      <HostRecord {...state} action="verify-host" />
    </Panel>
  );
}

function PackageContent({ record, permissions, upstream, shown, ends, routes, domains }: PackageSettings) {
  const { owner, href } = useVisit();
  const mayChange = permissions !== undefined;
  return (
    <>
      <PageHead title={`${record.name} settings`} about={record.shortDescription} guide="collector">
        <a class="button" href={href(path`/o/${owner.name}/packages/${record.uuid}`)}>
          View statistics
        </a>
      </PageHead>
      <SettingsTabs current="packages" />
      <div class="grid">
        {routes && <Routes routes={routes} mayChange={mayChange} />}
        {domains && <Domains domains={domains} mayChange={mayChange} />}
        {permissions && <Permissions permissions={permissions} />}
        {shown && <Public record={record} shown={shown} />}
        {mayChange && ends && <EndsOfLife ends={ends} />}
        {upstream && <ImageHost upstream={upstream} />}
        {upstream && <PackageRecord record={record} upstream={upstream} />}
      </div>
      {mayChange && <PackageRemoval name={record.name} />}
      {!mayChange && !routes && !domains && (
        <p class="none">Only admins of this package can view its settings.</p>
      )}
    </>
  );
}

interface RecordProps {
  record: PackageV1;
  upstream: PackageUpstream;
}

function PackageRecord({ record, upstream }: RecordProps) {
  const { name, shortDescription, longDescription, website, libraryType } = record;
  return (
    <Panel title="Package">
      <Form action="change">
        <Before values={valuesOfPackage({ record, upstream })} />
        <Field
          name="name"
          label="Name"
          value={name}
          required
          hint={
            libraryType === "npm"
              ? "The package's name on npm. Installs reported under another name are not counted."
              : "Renaming changes URLs that contain the name. The ID and all statistics are kept."
          }
        />
        <Field name="shortDescription" label="Description" value={shortDescription} />
        <Field name="longDescription" label="Long description" value={longDescription} rows={4} />
        <Field name="website" label="Website" value={website} />
        {libraryType === "docker" && (
          <ImageFields backendUrl={upstream.backend_url} publicUrl={upstream.public_url} />
        )}
        {libraryType === "pypi" && <IndexField value={upstream.repository_url} />}
        <Button>Save</Button>
      </Form>
    </Panel>
  );
}

function PackageRemoval({ name }: { name: string }) {
  return (
    <ConfirmButton
      action="delete"
      label="Delete package"
      question="Deletes the package with its routes, domains and permissions, and removes its events from all statistics and exports. Its pixels are kept. This can't be undone."
    >
      <Field name="confirm" label={`Type ${name} to confirm`} autocomplete="off" required />
    </ConfirmButton>
  );
}
