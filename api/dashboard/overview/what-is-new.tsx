import { numbered } from "../../../schemas/records/numbered.js";
import type { ComponentChildren } from "preact";
import type { StatisticsRow } from "../../../schemas/contracts/statistics.js";
import { path } from "../../web/address.js";
import { mayManage, useVisit } from "../../web/page.js";
import { formatFull, formatTime } from "../../web/parts/format.js";
import { Panel } from "../../web/parts/panel.js";
import { rangeIn } from "../../web/statistics/page-range.js";
import { countOf, labelOf, panelNamed } from "../../web/statistics/panels.js";
import type { Overview } from "./overview-parts.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

/** Names of each kind; the number of the others stands behind them, and leads to the whole list. */
const NAMES_MAX = 5;

/** What the range has and the range before it had not, each with the reason why it is here. */
export function WhatIsNew({ statistics, newCompanies, imports, range, state }: Overview) {
  const { owner, href } = useVisit();
  const inRange = imports.filter(({ created_at: at }) => at >= range.startDate && at < range.endDate);
  const refused = inRange.reduce((sum, { events_failed_to_import: failed }) => sum + failed, 0);
  return (
    <Panel title="New this period">
      <dl class="facts">
        <New list="country" statistics={statistics} state={state} />
        <New list="version" statistics={statistics} state={state} />
        {newCompanies !== undefined && (
          <Fact
            name={METRIC_LABELS.companies}
            count={newCompanies.length}
            reason="first seen in this period"
            all={href(path`/o/${owner.name}/companies`, { new: range.startDate, sort: "first_seen" })}
            names={newCompanies.map(({ domain, name }) => (
              <a href={href(path`/o/${owner.name}/companies/${domain}`)}>
                <bdi>{name || domain}</bdi>
              </a>
            ))}
          />
        )}
        {mayManage(owner) && (
          <Fact
            name="Imports"
            count={inRange.length}
            all={href(path`/o/${owner.name}/imports`)}
            reason={refused === 0 ? "no rejected lines" : `${numbered(refused, "rejected line")}`}
            names={inRange.map(({ id, name, created_at: at }) => (
              <a href={href(path`/o/${owner.name}/imports/${id}`)}>
                <bdi>{name ?? formatTime(at)}</bdi>
              </a>
            ))}
          />
        )}
      </dl>
    </Panel>
  );
}

/** Rows that the period before does not have: its change is null. Only where that period has anything at all. */
function New({ list, statistics, state }: { list: string } & Pick<Overview, "statistics" | "state">) {
  const { owner, href, query } = useVisit();
  const panel = panelNamed(list);
  const before = statistics.compare?.totals.downloads ?? 0;
  if (panel === undefined || before === 0) return null;
  const rows = (statistics.breakdowns[list] ?? []).filter(
    (row: StatisticsRow) => row.change === null && labelOf(panel, row) !== "",
  );
  return (
    <Fact
      name={panel.title}
      count={rows.length}
      reason="not seen in the previous period"
      all={href(path`/o/${owner.name}/all/${list}`, { ...rangeIn(query), automated: state.automated })}
      names={rows.map((row) => (
        <>
          <bdi>{labelOf(panel, row)}</bdi> <span class="soft">{formatFull(countOf(panel, row))}</span>
        </>
      ))}
    />
  );
}

interface FactProps {
  name: string;
  count: number;
  reason: string;
  /** The address of the whole list. */
  all: string;
  names: readonly ComponentChildren[];
}

function Fact({ name, count, reason, all, names }: FactProps) {
  return (
    <>
      <dt>
        {name} <span class="count">{formatFull(count)}</span>
      </dt>
      <dd>
        {names.slice(0, NAMES_MAX).map((each, index) => (
          <>
            {index > 0 && ", "}
            {each}
          </>
        ))}
        {count > NAMES_MAX && (
          <>
            {" "}
            <a href={all}>
              {formatFull(count - NAMES_MAX)} more<span class="hidden"> {name.toLowerCase()}</span>
            </a>
          </>
        )}
        {count > 0 && <span class="soft small"> ({reason})</span>}
      </dd>
    </>
  );
}
