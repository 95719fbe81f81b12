import type { ComponentChildren } from "preact";
import {
  type Comparison,
  INTERVALS,
  type Interval,
  isComparedDay,
} from "../../../schemas/contracts/statistics.js";
import { addDays, daysBetween } from "../../../schemas/date-range.js";
import { useVisit } from "../../web/page.js";
import { countryName, formatDate, formatDays } from "../../web/parts/format.js";
import { Tabs } from "../../web/parts/panel.js";
import { NO_RANGE, PRESETS, lastDayOf, presetOf } from "../../web/statistics/page-range.js";
import {
  type ViewFilter,
  type ViewState,
  intervalsFor,
  isFilter,
  linkToggling,
  linkWith,
} from "../../web/statistics/view-state.js";

interface RangeBarProps {
  state: ViewState;
  compares?: boolean;
  intervals?: readonly Interval[];
}

/** Chooses the days, their grouping, what they are compared with, and whether bots count. */
export function RangeBar({ state, compares = true, intervals = INTERVALS }: RangeBarProps) {
  const visit = useVisit();
  const shown = presetOf(visit.query);
  return (
    <div class="range" role="group" aria-label="Period and filters">
      <nav class="choices" aria-label="Period">
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
        label="Group by"
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
        title="Also excludes monitors, updaters, CI and mirrors"
        data-key="r"
        data-keep
      >
        Exclude bots
      </a>
    </div>
  );
}

function ComparisonMenu({ state }: { state: ViewState }) {
  const visit = useVisit();
  const isByHour = state.interval === "hour";
  const labelOf = (compare: Comparison) =>
    isComparedDay(compare)
      ? `vs period starting ${formatDate(compare)}`
      : (isByHour ? BY_HOUR : BY_DAY)[compare];
  const offered = COMPARED.filter(
    (each) => each === state.compare || (each !== "year" && (isByHour || each !== "previous")),
  );
  return (
    <details class="menu" data-menu="compare">
      <summary>
        <span class="hidden">Comparison: </span>
        {labelOf(state.compare)}
      </summary>
      <ul>
        {offered.map((compare) => (
          <li>
            <a
              href={linkWith(visit, { compare })}
              aria-current={compare === state.compare ? "true" : undefined}
              data-keep
            >
              {labelOf(compare)}
            </a>
          </li>
        ))}
        <li class="apart">
          <ComparedFrom state={state} />
        </li>
      </ul>
    </details>
  );
}

/** As many days as the page shows, from a day to choose. */
function ComparedFrom({ state: { compare, startDate, endDate } }: { state: ViewState }) {
  const latest = addDays(startDate, -daysBetween(startDate, endDate));
  return (
    <KeepingForm but={["compare"]} kind="row tight">
      <label for="compare">Period starting</label>
      <input
        id="compare"
        name="compare"
        type="date"
        required
        max={latest}
        value={isComparedDay(compare) ? compare : latest}
      />
      <button type="submit">Compare</button>
    </KeepingForm>
  );
}

/** In the order of the menu. */
const COMPARED = ["previous-weekdays", "previous", "year-weekdays", "year", "none"] as const;

const BY_DAY: Readonly<Record<(typeof COMPARED)[number], string>> = {
  "previous-weekdays": "vs previous period",
  previous: "vs previous period (by date)",
  "year-weekdays": "vs previous year",
  year: "vs same dates last year",
  none: "No comparison",
};

const BY_HOUR = { ...BY_DAY, "previous-weekdays": "vs previous week", previous: "vs previous day" };

interface KeepingFormProps {
  /** The parameters that it chooses anew. */
  but: readonly string[];
  kind: string;
  children: ComponentChildren;
}

/** Changes some parameters of the page's address, and keeps the others as hidden fields. */
function KeepingForm({ but, kind, children }: KeepingFormProps) {
  const { query, here, href } = useVisit();
  const others = [...query].filter(([name]) => ![...but, "after", "notice"].includes(name));
  return (
    <form method="get" action={href(here)} class={kind}>
      {others.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}

function OwnDates({ state, isOwn }: { state: ViewState; isOwn: boolean }) {
  return (
    <details class="menu dates" data-menu="dates">
      <summary class={isOwn ? "own" : undefined}>{formatDays(state.startDate, lastDayOf(state))}</summary>
      <KeepingForm but={Object.keys(NO_RANGE)} kind="form box">
        <div class="field">
          <label for="startDate">First day</label>
          <input id="startDate" name="startDate" type="date" required value={state.startDate} />
        </div>
        <div class="field">
          <label for="lastDate">Last day</label>
          <input id="lastDate" name="lastDate" type="date" required value={lastDayOf(state)} />
        </div>
        <button type="submit" class="primary">
          Apply
        </button>
      </KeepingForm>
    </details>
  );
}

export function FilterChips({ filters }: Pick<ViewState, "filters">) {
  const visit = useVisit();
  if (filters.length === 0) return null;
  const others = filters.slice(CHIPS_MAX);
  return (
    <ul class="chips" aria-label="Filters">
      <Chips filters={filters.slice(0, CHIPS_MAX)} />
      {others.length > 0 && (
        <li>
          <details>
            <summary>{others.length} more</summary>
            <ul class="chips">
              <Chips filters={others} />
            </ul>
          </details>
        </li>
      )}
      <li>
        <a href={withoutFilters(visit)} data-key="Escape" data-keep>
          Clear filters
        </a>
      </li>
    </ul>
  );
}

/** More are folded away. */
const CHIPS_MAX = 8;

function Chips({ filters }: Pick<ViewState, "filters">) {
  const visit = useVisit();
  return (
    <>
      {filters.map((filter) => (
        <li>
          <a class="chip" href={linkToggling(visit, [filter])} data-keep>
            <span class="soft">{nameOf(filter)}</span> <bdi class="cut">{valueOf(filter)}</bdi>
            <span aria-hidden="true">×</span>
            <span class="hidden"> (remove filter)</span>
          </a>
        </li>
      ))}
    </>
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
