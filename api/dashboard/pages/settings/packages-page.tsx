import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { path } from "../../address.js";
import { page, useVisit } from "../../page.js";
import { PageHead } from "../../parts/page-head.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";
import { packagesUnlessStranger } from "../artifacts-of.js";
import { SettingsTabs } from "./settings-tabs.js";

/** The packages of an owner, each with its permissions, routes and domains. */
export const packagesPage = page<PackageV1[]>({
  path: "/o/:owner/settings/packages",
  section: "settings",
  load: (visit) => packagesUnlessStranger(visit),
  title: (_, { owner }) => `Packages of ${owner.name}`,
  render: (packages) => <Packages packages={packages} />,
  notices: { deleted: "The package was deleted." },
});

function Packages({ packages }: { packages: readonly PackageV1[] }) {
  const { owner, href } = useVisit();
  return (
    <>
      <PageHead title={`Settings of ${owner.name}`} />
      <SettingsTabs current="packages" />
      <Panel title="Packages">
        <Table
          caption="Packages"
          columns={[{ name: "Package" }, { name: "Type" }, { name: "Description" }]}
          rows={packages.map(({ uuid, name, libraryType, shortDescription }) => [
            <a href={href(path`/o/${owner.name}/settings/packages/${uuid}`)}>{name}</a>,
            libraryType ?? "other",
            shortDescription,
          ])}
          empty="There is no package yet."
        />
      </Panel>
    </>
  );
}
