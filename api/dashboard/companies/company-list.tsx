import type { CompanyRecord } from "../../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { path } from "../../web/address.js";
import { Sparkline } from "../../web/charts/area-chart.js";
import { useVisit } from "../../web/page.js";
import { formatCount, formatDate } from "../../web/parts/format.js";
import { Panel, Tabs } from "../../web/parts/panel.js";
import { type Column, Table } from "../../web/parts/table.js";
import { addressWith, askedBy } from "./list-state.js";
import { StageBadge } from "./stage-labels.js";
import { VersionsUsed } from "./versions-used.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

interface CompanyListProps {
  companies: readonly CompanyRecord[];
  packages: readonly PackageV1[];
}

export function CompanyList({ companies, packages }: CompanyListProps) {
  const { query } = useVisit();
  const columns = useColumns();
  return (
    <Panel
      title="Companies"
      links={
        <>
          <VersionsUsed companies={companies} packages={packages} />
          <Downloads />
        </>
      }
    >
      <Filters packages={packages} />
      <Table
        caption="Companies"
        columns={columns}
        rows={companies.map((company) => [
          <Named company={company} />,
          <StageBadge stage={company.stage} />,
          company.since === undefined ? "" : formatDate(company.since.slice(0, 10)),
          company.score,
          formatCount(company.downloads_30_days),
          <Sparkline values={company.daily_downloads ?? []} isLastOpen />,
          formatCount(company.downloads),
          formatCount(company.views),
          company.first_seen === undefined ? "" : formatDate(company.first_seen),
          company.last_seen === undefined ? "" : formatDate(company.last_seen),
        ])}
        empty={query.has("search") ? "No companies match this search." : "No companies match these filters."}
      />
    </Panel>
  );
}

/** With links that sort. Names begin with A, all others with the greatest or latest. */
function useColumns(): Column[] {
  const visit = useVisit();
  const current = visit.query.get("sort") ?? "score";
  const by = (name: string, sort: string, more: Partial<Column> = {}): Column => {
    const order = sort === "name" ? "ascending" : "descending";
    return {
      name,
      href: addressWith(visit, { sort }),
      sorted: sort === current ? order : undefined,
      ...more,
    };
  };
  return [
    by("Company", "name"),
    { name: "Stage" },
    by("Since", "since", { isMinor: true }),
    by("Score", "score", { isNumber: true }),
    by("30 days", "downloads_30_days", { isNumber: true }),
    { name: "Downloads by day", isUnnamed: true, isMinor: true },
    by("Downloads", "downloads", { isNumber: true, isMinor: true }),
    by(METRIC_LABELS.views, "views", { isNumber: true, isMinor: true }),
    by("First seen", "first_seen", { isNumber: true, isMinor: true }),
    by("Last seen", "last_seen", { isNumber: true, isMinor: true }),
  ];
}

function Named({ company: { name, domain } }: { company: CompanyRecord }) {
  const { href, owner } = useVisit();
  return (
    <>
      <a href={href(path`/o/${owner.name}/companies/${domain}`)}>
        <bdi>{name || domain}</bdi>
      </a>
      {name !== "" && name !== domain && (
        <>
          <br />
          <span class="soft small">{domain}</span>
        </>
      )}
    </>
  );
}

/** Works without script: a form that puts its fields into the address. */
function Filters({ packages }: { packages: readonly PackageV1[] }) {
  const visit = useVisit();
  const { href, owner, query } = visit;
  const kept = ["stage", "sort", "new"].flatMap((name) => {
    const value = query.get(name);
    return value ? [{ name, value }] : [];
  });
  const shownNew = query.get("new") || undefined;
  return (
    <>
      <Tabs
        label="First seen"
        tabs={[
          { label: "All", href: addressWith(visit, { new: undefined }), isCurrent: !shownNew },
          {
            label: "New this week",
            href: addressWith(visit, { new: "week" }),
            isCurrent: shownNew === "week",
          },
          ...(shownNew === undefined || shownNew === "week"
            ? []
            : [
                { label: `New since ${formatDate(shownNew)}`, href: addressWith(visit, {}), isCurrent: true },
              ]),
        ]}
      />
      <form method="get" action={href(path`/o/${owner.name}/companies`)} class="row" role="search">
        {kept.map(({ name, value }) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="field">
          <label for="search">Name or domain</label>
          <input
            id="search"
            name="search"
            type="search"
            value={query.get("search") ?? ""}
            maxLength={256}
            placeholder="bank, kpmg.com"
            title="Separate multiple terms with commas"
          />
        </div>
        <div class="field">
          <label for="package">Package</label>
          <select id="package" name="package">
            <option value="">Any package</option>
            {packages.map(({ uuid, name }) => (
              <option value={uuid} selected={uuid === query.get("package")}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">Apply</button>
      </form>
    </>
  );
}

/** Files need the grant, which the page itself does not. */
function Downloads() {
  const { href, owner, query } = useVisit();
  if (!owner.mayExport) return null;
  const { after: _, ...asked } = askedBy(query);
  const address = href(`/api${path`/v2/${owner.name}/companies`}`, {
    ...asked,
    per_page: 1_000,
    accept: "text/csv",
  });
  return (
    <a href={address} download="companies.csv">
      CSV
    </a>
  );
}
