import type { PackageDomainV1 } from "../../../../schemas/contracts/package-domain.js";
import type { PackagePermissionV1 } from "../../../../schemas/contracts/package-permission.js";
import type { PackageRouteV1 } from "../../../../schemas/contracts/package-route.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import { page, useVisit, type Visit } from "../../page.js";
import { PageHead } from "../../parts/page-head.js";
import { changePackage } from "./change-package.js";
import { Domains } from "./domains.js";
import { Permissions } from "./permissions.js";
import { Routes } from "./routes.js";
import { SettingsTabs } from "./settings-tabs.js";

interface PackageSettings {
  record: PackageV1;
  /** Undefined where the viewer is no admin of the package: then nothing may be changed either. */
  permissions: PackagePermissionV1[] | undefined;
  /** Undefined for types that have none. */
  routes: PackageRouteV1[] | undefined;
  domains: PackageDomainV1[] | undefined;
}

/** The permissions of a package, and how it is served. */
export const packageSettingsPage = page<PackageSettings>({
  path: "/o/:owner/settings/packages/:package",
  section: "settings",
  load: loadSettings,
  title: ({ record }) => `Settings of ${record.name}`,
  render: (settings) => <PackageContent {...settings} />,
  submit: changePackage,
  notices: {
    "permission-set": "The level was set.",
    "route-added": "The route was added.",
    "route-removed": "The route was removed.",
    "domain-added": "The domain was added.",
    "domain-removed": "The domain was removed.",
  },
});

async function loadSettings({ api, owner, param }: Visit): Promise<PackageSettings> {
  const at = path`/v1/packages/${param("package")}`;
  const record = await api<PackageV1>({ path: at });
  if (record.owner !== owner.name) throw new Problem("not-found", `${owner.name} has no such package.`);
  const type = record.libraryType ?? "other";
  const [permissions, routes, domains] = await Promise.all([
    orUndefined(api<PackagePermissionV1[]>({ path: `${at}/permissions` })),
    type === "other" ? api<PackageRouteV1[]>({ path: `${at}/routes` }) : undefined,
    type === "other" || type === "pypi" ? api<PackageDomainV1[]>({ path: `${at}/domains` }) : undefined,
  ]);
  return { record, permissions, routes, domains };
}

async function orUndefined<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.code === "forbidden") return undefined;
    throw error;
  }
}

function PackageContent({ record, permissions, routes, domains }: PackageSettings) {
  const { owner, href } = useVisit();
  const mayChange = permissions !== undefined;
  return (
    <>
      <PageHead title={`Settings of ${record.name}`} about={record.shortDescription}>
        <a class="button" href={href(path`/o/${owner.name}/packages/${record.uuid}`)}>
          Its statistics
        </a>
      </PageHead>
      <SettingsTabs current="packages" />
      {routes && <Routes routes={routes} mayChange={mayChange} />}
      {domains && <Domains domains={domains} mayChange={mayChange} />}
      {permissions && <Permissions permissions={permissions} />}
      {!mayChange && !routes && !domains && (
        <p class="none">Only admins of the package can see its settings.</p>
      )}
    </>
  );
}
