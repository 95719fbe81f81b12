import type { PackagePermissionV1, PackagePublic } from "../../../../schemas/contracts/package-access.js";
import type { EndOfLifeUse } from "../../../../schemas/contracts/end-of-life.js";
import type { PackageDomainV1, PackageRouteV1 } from "../../../../schemas/contracts/package-routing.js";
import type { PackageUpstream, PackageV1 } from "../../../../schemas/contracts/package.js";
import { MIB } from "../../../http/body-limits.js";
import { path } from "../../address.js";
import { type Visit, page, useVisit } from "../../page.js";
import { Button, ConfirmButton, Field, Form } from "../../parts/form.js";
import { Before } from "../../parts/unchanged.js";
import { PageHead, Panel } from "../../parts/panel.js";
import { ifAllowed, packageOf } from "../artifacts-of.js";
import { changePackage, valuesOfPackage } from "./change-package.js";
import { loadEndsOfLife } from "../../statistics/adoption.js";
import { EndsOfLife } from "./ends-of-life.js";
import { Domains, HostRecord, Routes, verificationOf } from "./domains.js";
import { Permissions, Public } from "./permissions.js";
import { SettingsTabs } from "./settings-tabs.js";

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
  title: ({ record }) => `Settings of ${record.name}`,
  render: (settings) => <PackageContent {...settings} />,
  // The longer description is sent twice: as it was and as it shall be.
  forms: { bytesMax: 2 * MIB },
  submit: changePackage,
  notices: {
    changed: "The package was changed.",
    "permission-set": "The level was set.",
    "route-added": "The route was added.",
    "route-removed": "The route was removed.",
    "public-set": "What everybody may see was set.",
    "end-of-life-set": "The dates of end of life were changed.",
    "domain-added": "The domain was added.",
    looked: "The DNS was asked; the state below is the present one.",
    "domain-removed": "The domain was removed.",
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
    ifAllowed(api<PackageUpstream>({ path: `${ofOwner}/upstream` })),
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
    <Panel title="Host of the image">
      <HostRecord {...state} action="verify-host" />
    </Panel>
  );
}

function PackageContent({ record, permissions, upstream, shown, ends, routes, domains }: PackageSettings) {
  const { owner, href } = useVisit();
  const mayChange = permissions !== undefined;
  return (
    <>
      <PageHead title={`Settings of ${record.name}`} about={record.shortDescription} guide="collecting">
        <a class="button" href={href(path`/o/${owner.name}/packages/${record.uuid}`)}>
          Its statistics
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
        <p class="none">Only admins of the package can see its settings.</p>
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
              ? "As npm knows it. Installations report it; under another name they are not counted here."
              : "Another name changes the addresses that have it. Its id and its numbers stay."
          }
        />
        <Field name="shortDescription" label="Description" value={shortDescription} />
        <Field name="longDescription" label="Longer description" value={longDescription} rows={4} />
        <Field name="website" label="Website" value={website} />
        {libraryType === "docker" && <ImageFields {...upstream} />}
        {libraryType === "pypi" && (
          <Field
            name="repositoryURL"
            label="Index with its files"
            type="url"
            value={upstream.repository_url}
          />
        )}
        <Button>Save</Button>
      </Form>
    </Panel>
  );
}

function ImageFields({ backend_url: backend, public_url: front }: PackageUpstream) {
  return (
    <>
      <Field name="backendUrl" label="Image in your registry" type="url" required value={backend} />
      <Field
        name="publicUrl"
        label="Address that people pull from"
        type="url"
        value={front}
        hint="A host name that leads to live collection, with the same path."
      />
    </>
  );
}

function PackageRemoval({ name }: { name: string }) {
  return (
    <ConfirmButton
      action="delete"
      label="Delete this package"
      question="Its events leave every number and export at once and are erased soon after. Its routes, domains and permissions go with it; its pixels stay. This cannot be undone."
    >
      <Field name="confirm" label={`Type ${name} to confirm`} autocomplete="off" required />
    </ConfirmButton>
  );
}
