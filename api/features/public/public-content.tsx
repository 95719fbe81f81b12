import { numbered } from "../../../schemas/records/numbered.js";
import { type Visit, useVisit } from "../../web/page.js";
import { renderPage } from "../../web/layout.js";
import type { PublicPackage } from "./public-packages.js";
import { PUBLIC_DAYS, PUBLIC_LISTS, type PublicDays, type PublicNumbers } from "./public-numbers.js";
import { isHttpUrl } from "../../../schemas/formats.js";
import { changeOf } from "../../../schemas/contracts/statistics.js";
import { badgeSnippets, prefixOf, publicAddresses } from "../../web/address.js";
import { SeriesChart } from "../../web/charts/series-chart.js";
import { WorldMap } from "../../web/charts/world-map.js";
import { CopyLine } from "../../web/parts/form.js";
import { formatDays } from "../../web/parts/format.js";
import { PageHead, Panel, Tabs, Tiles } from "../../web/parts/panel.js";
import { BarList } from "../../web/statistics/bar-list.js";
import { type PanelKind, countOf, panelNamed } from "../../web/statistics/panels.js";
import { TYPES } from "../../web/artifacts-of.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

export function renderPublicPage(visit: Visit, props: PublicContentProps): void {
  const { name, owner } = props.found;
  const { days, numbers } = props;
  renderPage(visit, {
    title: `${name} by ${owner}`,
    description: `${numbered(numbers.downloads, "download")} in the last ${days} days, by country, version, client and platform.`,
    content: <PublicContent {...props} />,
  });
}

interface PublicContentProps {
  found: PublicPackage;
  /** Whether the address had to name the type. */
  isTyped: boolean;
  days: PublicDays;
  numbers: PublicNumbers;
}

const ROWS = 10;

function PublicContent({ found, isTyped, days, numbers }: PublicContentProps) {
  const { ctx } = useVisit();
  const type = isTyped ? found.libraryType : undefined;
  const { badge, page } = publicAddresses(ctx.state.publicBase, { ...found, type });
  return (
    <>
      <PageHead
        title={<bdi>{found.name}</bdi>}
        about={
          <>
            <span class="badge">{TYPES[found.libraryType]}</span> {found.shortDescription} by{" "}
            <bdi>{found.owner}</bdi>
          </>
        }
      >
        {found.website !== null && (
          <a class="button" href={urlOf(found.website)} rel="nofollow ugc noopener">
            Website
          </a>
        )}
      </PageHead>
      <Numbers numbers={numbers} automated={found.automated} days={days} type={type} />
      <Panel title="Badge">
        <p>
          <img src={relative(badge, ctx.state.publicBase)} alt="Downloads in the last 30 days" height="20" />
        </p>
        <CopyLine label="Badge in Markdown" text={badgeSnippets({ badge, page }).Markdown} />
      </Panel>
    </>
  );
}

/** A website may be stored without its scheme. */
function urlOf(website: string): string {
  return isHttpUrl(website) ? website : `https://${website}`;
}

/** From the root of this host, whatever the page was asked for as: the policy allows pictures of its own origin. */
function relative(address: string, publicBase: string): string {
  return prefixOf(publicBase) + address.slice(publicBase.length);
}

function Numbers({
  numbers,
  automated,
  days,
  type,
}: Pick<PublicContentProps, "numbers" | "days"> &
  Pick<PublicPackage, "automated"> & { type: string | undefined }) {
  const { range, interval, downloads, downloadsCompared, downloadsBefore, series } = numbers;
  const last = series.at(-1)?.date ?? range.startDate;
  return (
    <>
      <Ranges days={days} type={type} />
      <section class="panel" aria-label="Trend">
        <Tiles
          tiles={[
            {
              label: `Downloads, ${formatDays(range.startDate, last)}`,
              value: downloads,
              change: changeOf(downloadsCompared, downloadsBefore),
              children: <span class="soft small"> vs previous period, excluding today</span>,
            },
          ]}
        />
        <SeriesChart
          label={METRIC_LABELS.downloads}
          interval={interval}
          places={series.map(({ date, downloads: value }) => ({ date, value }))}
          isLastOpen
        />
        <p class="soft small">
          Downloads by bots, CI and mirrors are {automated === "exclude" ? "excluded" : "included"}.
        </p>
      </section>
      <Lists numbers={numbers} />
    </>
  );
}

function Ranges({ days, type }: { days: PublicDays; type: string | undefined }) {
  const more = type === undefined ? "" : `&type=${type}`;
  return (
    <Tabs
      label="Period"
      tabs={PUBLIC_DAYS.map((each) => ({
        label: `${each} days`,
        href: `?days=${each}${more}`,
        isCurrent: each === days,
      }))}
    />
  );
}

function Lists({ numbers: { lists } }: { numbers: PublicNumbers }) {
  const panels = PUBLIC_LISTS.flatMap((name) => {
    const panel = panelNamed(name);
    return panel === undefined ? [] : [{ panel, rows: lists[name] }];
  });
  const [countries, ...others] = panels;
  return (
    <>
      {countries && (
        <Panel title={countries.panel.title}>
          <div class="map-and-list">
            <WorldMap unit="downloads" counts={countriesOf(countries.panel, countries.rows)} />
            <List {...countries} />
          </div>
        </Panel>
      )}
      <div class="grid">
        {others.map((each) => (
          <Panel title={each.panel.title}>
            <List {...each} />
          </Panel>
        ))}
      </div>
    </>
  );
}

type Rows = PublicNumbers["lists"]["country"];

function List({ panel, rows }: { panel: PanelKind; rows: Rows }) {
  return (
    <BarList
      panel={panel}
      rows={rows.slice(0, ROWS)}
      isCompared={false}
      unit={METRIC_LABELS.downloads}
      isUnfiltered
    />
  );
}

function countriesOf(panel: PanelKind, rows: Rows) {
  return rows.map((row) => ({ code: String(row["country"] ?? ""), count: countOf(panel, row) }));
}
