import { type Comparison, INTERVALS, type Interval } from "../../../schemas/contracts/statistics.js";
import { useVisit } from "../page.js";
import { countryName, formatDays } from "../parts/format.js";
import { Tabs } from "../parts/panel.js";
import { NO_RANGE, PRESETS, lastDayOf, presetOf } from "./page-range.js";
import {
  type ViewFilter,
  type ViewState,
  intervalsFor,
  isFilter,
  linkToggling,
  linkWith,
} from "./view-state.js";

interface RangeBarProps {
  state: ViewState;
  compares?: boolean;
  intervals?: readonly Interval[];
}

/** Chooses the days, their grouping, what they are compared with, and whether robots count. */
export function RangeBar({ state, compares = true, intervals = INTERVALS }: RangeBarProps) {
  const visit = useVisit();
  const shown = presetOf(visit.query);
  return (
    <div class="range" role="group" aria-label="Range">
      <nav class="choices" aria-label="Days">
        {PRESETS.map((preset) => (
          <a
            href={linkWith(visit, { ...NO_RANGE, ...preset.address })}
            aria-current={preset === shown ? "true" : undefined}
            data-key={preset.key}
            data-keep
          >
            {preset.label}
          </a>
        ))}
      </nav>
      <OwnDates state={state} isOwn={shown === undefined} />
      <Tabs
        label="Grouped by"
        tabs={intervalsFor(state, intervals).map((interval) => ({
          label: { hour: "Hour", day: "Day", week: "Week", month: "Month" }[interval],
          href: linkWith(visit, { interval }),
          isCurrent: interval === state.interval,
        }))}
      />
      {compares && <ComparisonMenu state={state} />}
      <a
        class="toggle"
        href={linkWith(visit, { automated: state.automated === "exclude" ? undefined : "exclude" })}
        aria-current={state.automated === "exclude" ? "true" : undefined}
        title="Leaves out bots, monitors, updaters, continuous integration and mirrors"
        data-key="r"
        data-keep
      >
        Without robots
      </a>
    </div>
  );
}

function ComparisonMenu({ state }: { state: ViewState }) {
  const visit = useVisit();
  const isByHour = state.interval === "hour";
  const labels = isByHour ? BY_HOUR : BY_DAY;
  const offered = COMPARED.filter(
    (each) => each === state.compare || (each !== "year" && (isByHour || each !== "previous")),
  );
  return (
    <details class="menu" data-menu="compare">
      <summary>
        <span class="hidden">Compared with: </span>
        {labels[state.compare]}
      </summary>
      <ul>
        {offered.map((compare) => (
          <li>
            <a
              href={linkWith(visit, { compare })}
              aria-current={compare === state.compare ? "true" : undefined}
              data-keep
            >
              {labels[compare]}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** In the order of the menu. */
const COMPARED: readonly Comparison[] = ["previous-weekdays", "previous", "year-weekdays", "year", "none"];

const BY_DAY: Readonly<Record<Comparison, string>> = {
  "previous-weekdays": "vs. previous period",
  previous: "vs. days right before",
  "year-weekdays": "vs. year earlier",
  year: "vs. same dates a year earlier",
  none: "No comparison",
};

const BY_HOUR = { ...BY_DAY, "previous-weekdays": "vs. week before", previous: "vs. day before" };

/** A form of its own: it keeps the other parameters as hidden fields. */
function OwnDates({ state, isOwn }: { state: ViewState; isOwn: boolean }) {
  const { query, here, href } = useVisit();
  const others = [...query].filter(([name]) => !(name in NO_RANGE) && !["after", "notice"].includes(name));
  return (
    <details class="menu dates" data-menu="dates">
      <summary class={isOwn ? "own" : undefined}>{formatDays(state.startDate, lastDayOf(state))}</summary>
      <form method="get" action={href(here)} class="form box">
        {others.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="field">
          <label for="startDate">First day</label>
          <input id="startDate" name="startDate" type="date" required value={state.startDate} />
        </div>
        <div class="field">
          <label for="lastDate">Last day</label>
          <input id="lastDate" name="lastDate" type="date" required value={lastDayOf(state)} />
        </div>
        <button type="submit" class="primary">
          Show
        </button>
      </form>
    </details>
  );
}

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
