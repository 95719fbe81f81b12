import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { Statistics, StatisticsBucket } from "../../../schemas/contracts/statistics.js";
import { path } from "../../web/address.js";
import { type Visit, useVisit } from "../../web/page.js";
import { packagesOf } from "../../web/artifacts-of.js";
import { isMendable } from "../../web/statistics/load-statistics.js";
import { type ViewState, linkWith, queryOf } from "../../web/statistics/view-state.js";

/** The parameter of the page that puts another package on its chart, by id. */
const WITH = "with";

export interface OtherPackages {
  /** Those that the chart can be compared with. */
  others: readonly Pick<PackageV1, "uuid" | "name">[];
  /** The one that it is compared with. Absent where none is chosen, or seen. */
  chosen?: { name: string; series: readonly StatisticsBucket[] };
}

export async function loadOtherPackages(
  visit: Visit,
  { state, packageId }: { state: ViewState; packageId: string },
): Promise<OtherPackages> {
  const others = (await packagesOf(visit)).filter(({ uuid }) => uuid !== packageId);
  const found = others.find(({ uuid }) => uuid === visit.query.get(WITH));
  if (found === undefined) return { others };
  const query = { ...queryOf(state), compare: "none", limit: 1, package: found.uuid };
  try {
    const { series } = await visit.api<Statistics>({ path: path`/v2/${visit.owner.name}/stats`, query });
    return { others, chosen: { name: found.name, series } };
  } catch (error) {
    // The page says what is wrong with its range.
    if (isMendable(error)) return { others };
    throw error;
  }
}

export function PackageMenu({ others, chosen }: OtherPackages) {
  const visit = useVisit();
  if (others.length === 0) return null;
  return (
    <details class="menu" data-menu="with">
      <summary>{chosen === undefined ? "Compare with package" : <bdi>{`vs ${chosen.name}`}</bdi>}</summary>
      <ul>
        {chosen !== undefined && (
          <li>
            <a href={linkWith(visit, { [WITH]: undefined })} data-keep>
              Remove {chosen.name}
            </a>
          </li>
        )}
        {others.map(({ uuid, name }) => (
          <li>
            <a
              href={linkWith(visit, { [WITH]: uuid })}
              aria-current={visit.query.get(WITH) === uuid ? "true" : undefined}
              data-keep
            >
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
