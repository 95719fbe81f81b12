import { countryName } from "../charts/country-name.js";
import { useVisit } from "../page.js";
import { isFilter, linkToggling, type ViewFilter, type ViewState } from "./view-state.js";

/** The set filters, each with a link that takes it away. */
export function FilterChips({ filters }: Pick<ViewState, "filters">) {
  const visit = useVisit();
  if (filters.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map((filter) => (
        <li>
          <a class="chip" href={linkToggling(visit, [filter])} data-keep>
            <span class="soft">{nameOf(filter)}</span> <bdi class="cut">{valueOf(filter)}</bdi>
            <span aria-hidden="true">×</span>
            <span class="hidden">: remove this filter</span>
          </a>
        </li>
      ))}
      <li>
        <a href={withoutFilters(visit)} data-key="Escape" data-keep>
          Remove all
        </a>
      </li>
    </ul>
  );
}

function withoutFilters({ query, here, href }: ReturnType<typeof useVisit>): string {
  const rest = new URLSearchParams([...query].filter(([name]) => !isFilter(name) && name !== "after"));
  const address = href(here);
  return rest.size === 0 ? address : `${address}?${rest.toString()}`;
}

function nameOf({ name }: ViewFilter): string {
  return name.replace(/^variable\./, "").replaceAll("_", " ");
}

function valueOf({ name, value }: ViewFilter): string {
  if (value === "") return "unknown";
  return name === "country" ? countryName(value) : value;
}
