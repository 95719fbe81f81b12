import { path, withQuery } from "../address.js";
import { useVisit, type Visit } from "../page.js";
import type { Subject } from "./load-statistics.js";
import type { PanelKind } from "./panels.js";
import { queryOf, type ViewState } from "./view-state.js";

interface ListLinksProps {
  panel: PanelKind;
  state: ViewState;
  subject: Subject;
  /** Whether the viewer gets CSV of the subject. */
  mayExport: boolean;
}

/** To the whole list, and to it as CSV where that is granted. */
export function ListLinks({ panel: { list, title }, state, subject, mayExport }: ListLinksProps) {
  const visit = useVisit();
  const { here, href, query } = visit;
  const whole = new URLSearchParams([...query].filter(([name]) => name !== "metric" && name !== "notice"));
  return (
    <>
      <a href={withParameters(href(`${here}${path`/all/${list.name}`}`), whole)}>
        All<span class="hidden"> {title.toLowerCase()}</span>
      </a>
      {mayExport && (
        <a href={csvAddress(visit, { list: list.name, state, subject })} download={`${list.name}.csv`}>
          CSV<span class="hidden"> of {title.toLowerCase()}</span>
        </a>
      )}
    </>
  );
}

interface CsvOf {
  state: ViewState;
  subject: Subject;
  /** Absent for the series. */
  list?: string;
  /** Narrows a list to the rows with this text. */
  search?: string | undefined;
}

/** The address of the numbers on the page as CSV, with all rows of a list. */
export function csvAddress({ href, owner }: Visit, { state, subject, list, search }: CsvOf): string {
  const { interval, ...asked } = queryOf(state);
  const at = path`/api/v2/${owner.name}/stats`;
  const query = { ...asked, ...subject, accept: "text/csv" };
  return href(
    list === undefined
      ? withQuery(at, { ...query, interval, compare: undefined })
      : withQuery(at + path`/${list}`, { ...query, search }),
  );
}

function withParameters(address: string, query: URLSearchParams): string {
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}
