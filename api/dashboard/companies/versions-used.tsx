import type { CompanyRecord } from "../../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { path } from "../../web/address.js";
import { type Visit, useVisit } from "../../web/page.js";

interface VersionsUsedProps {
  companies: readonly CompanyRecord[];
  packages: readonly PackageV1[];
}

/** From a list of companies to the versions that they use, of the package that the list is filtered by, or of one to choose. */
export function VersionsUsed({ companies, packages }: VersionsUsedProps) {
  const visit = useVisit();
  const chosen = packages.filter(({ uuid, name }) => [uuid, name].includes(visit.query.get("package") ?? ""));
  const offered = chosen.length > 0 ? chosen : packages;
  if (companies.length === 0 || offered.length === 0) return null;
  const domains = companies.map(({ domain }) => domain);
  return (
    <details class="menu" data-menu="versions">
      <summary>View versions in use</summary>
      <ul>
        {offered.map(({ uuid, name }) => (
          <li>
            <a href={versionsOf(visit, { packageId: uuid, domains })}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** As many days as filters can cover. */
const DAYS = 90;

/** The versions of a package that these companies downloaded. */
export function versionsOf(
  { href, owner }: Pick<Visit, "href" | "owner">,
  { packageId, domains }: { packageId: string; domains: readonly string[] },
): string {
  return href(path`/o/${owner.name}/packages/${packageId}/all/version`, {
    company_domain: domains,
    days: DAYS,
  });
}
