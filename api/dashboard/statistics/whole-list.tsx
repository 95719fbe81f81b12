import type { StatisticsListPage } from "../../../schemas/contracts/statistics.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import { type Visit, useVisit } from "../../web/page.js";
import { PageHead } from "../../web/parts/panel.js";
import { Pager } from "../../web/parts/table.js";
import { BarList, csvFile } from "../../web/statistics/bar-list.js";
import { FilterChips, RangeBar } from "./range-bar.js";
import { VersionTabs } from "./version-tabs.js";
import { type Subject } from "../../web/statistics/load-statistics.js";
import { type ViewState, queryOf, readState } from "../../web/statistics/view-state.js";
import { type PanelKind, panelNamed } from "../../web/statistics/panels.js";
import type { Unit } from "../../web/statistics/metric-labels.js";

export interface WholeListData {
  panel: PanelKind;
  state: ViewState;
  subject: Subject;
  list: StatisticsListPage;
  search: string | undefined;
}

const ROWS = 50;

/** One list in full, a page at a time. The parameter `:breakdown` of the path names it. */
export async function loadWholeList(visit: Visit, subject: Subject): Promise<WholeListData> {
  const panel = panelNamed(visit.param("breakdown"));
  if (panel === undefined) throw new Problem("not-found", "This list does not exist.");
  const state = readState(visit);
  const search = visit.query.get("search") || undefined;
  const list = await visit.api<StatisticsListPage>({
    path: path`/v2/${visit.owner.name}/stats/${panel.list.name}`,
    query: {
      ...queryOf(state),
      interval: undefined,
      ...subject,
      search,
      after: visit.query.get("after") ?? undefined,
      per_page: ROWS,
    },
  });
  return { panel, state, subject, list, search };
}

interface WholeListProps {
  data: WholeListData;
  back: string;
  /** The subject of that page: the text of the link to it. */
  about: string;
  unit: Unit;
  mayExport: boolean;
}

export function WholeList({
  data: { panel, state, subject, list, search },
  back,
  about,
  unit,
  mayExport,
}: WholeListProps) {
  const visit = useVisit();
  const { query, here, href } = visit;
  const others = [...query].filter(([name]) => !["search", "after", "notice"].includes(name));
  const rest = new URLSearchParams(others);
  return (
    <>
      <PageHead
        title={panel.title}
        about={<a href={rest.size === 0 ? back : `${back}?${rest.toString()}`}>{about}</a>}
      >
        {mayExport && (
          <a class="button" {...csvFile(visit, { list: panel.list.name, state, subject, search })}>
            Download CSV
          </a>
        )}
      </PageHead>
      <RangeBar state={state} />
      <FilterChips filters={state.filters} />
      <form method="get" action={href(here)} class="row narrow" role="search">
        {others.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="field">
          <label for="search">Search {panel.title.toLowerCase()}</label>
          <input id="search" name="search" type="search" value={search} maxLength={256} />
        </div>
        <button type="submit">Search</button>
      </form>
      <section class="panel" aria-label={panel.title}>
        {panel.list.isOfVersions === true && <VersionTabs state={state} />}
        <BarList panel={panel} rows={list.rows} isCompared={list.compare !== undefined} unit={unit} />
      </section>
      <Pager next={list.next} />
    </>
  );
}
