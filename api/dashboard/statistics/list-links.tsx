import { path, withQuery } from "../address.js";
import { useVisit } from "../page.js";
import type { Subject } from "./load-statistics.js";
import type { PanelKind } from "./panels.js";
import { queryOf, type ViewState } from "./view-state.js";

interface ListLinksProps {
  panel: PanelKind;
  state: ViewState;
  subject: Subject;
}

/** To the whole list, and to it as CSV where that is granted. */
export function ListLinks({ panel: { list, title }, state, subject }: ListLinksProps) {
  const { here, href, query, owner } = useVisit();
  const whole = new URLSearchParams([...query].filter(([name]) => name !== "metric" && name !== "notice"));
  return (
    <>
      <a href={withParameters(href(`${here}${path`/all/${list.name}`}`), whole)}>
        All<span class="hidden"> {title.toLowerCase()}</span>
      </a>
      {owner.mayExport && (
        <a
          href={csvAddress(href, { owner: owner.name, list: list.name, state, subject })}
          download={`${list.name}.csv`}
        >
          CSV<span class="hidden"> of {title.toLowerCase()}</span>
        </a>
      )}
    </>
  );
}

interface CsvOf {
  owner: string;
  list: string;
  state: ViewState;
  subject: Subject;
}

/** The rows that are seen, and all behind them, as the API gives them. */
export function csvAddress(
  href: ReturnType<typeof useVisit>["href"],
  { owner, list, state, subject }: CsvOf,
  search?: string,
): string {
  const query = { ...queryOf(state), interval: undefined, ...subject, search, accept: "text/csv" };
  return href(withQuery(path`/api/v2/${owner}/stats/${list}`, query));
}

function withParameters(address: string, query: URLSearchParams): string {
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}
