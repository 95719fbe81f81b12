import type { CompanyDetail, StageChangeRecord } from "../../../schemas/contracts/funnel.js";
import { DAY_MS, dateAt } from "../../../schemas/date-range.js";
import { path } from "../../web/address.js";
import { AreaChart } from "../../web/charts/area-chart.js";
import { page, useVisit } from "../../web/page.js";
import { formatCount, formatDate, formatTime } from "../../web/parts/format.js";
import { PageHead, Panel, Tiles } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import { versionsOf } from "./versions-used.js";
import { CAUSE_LABELS, STAGE_LABELS, StageBadge } from "./stage-labels.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";

export const companyPage = page<CompanyDetail>({
  path: "/o/:owner/companies/:company",
  section: "companies",
  load: ({ api, owner, param }) =>
    api<CompanyDetail>({ path: path`/v2/${owner.name}/companies/${param("company")}` }),
  title: (company) => `${company.name || company.domain} · Companies`,
  render: (company) => <Company company={company} />,
});

function Company({ company }: { company: CompanyDetail }) {
  const { first_seen: first, last_seen: last } = company;
  return (
    <>
      <PageHead
        title={
          <>
            {company.name || company.domain} <StageBadge stage={company.stage} />
          </>
        }
        about={[
          company.name !== company.domain && company.domain,
          first !== undefined && `First seen ${formatDate(first)}`,
          last !== undefined && `Last seen ${formatDate(last)}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      />
      <Tiles
        tiles={[
          { label: "Score", value: company.score },
          { label: `${METRIC_LABELS.downloads} since first seen`, value: company.downloads },
          { label: `${METRIC_LABELS.views} since first seen`, value: company.views },
        ]}
      />
      <Panel title={`Activity in the last ${DAYS} days`}>
        {company.days.length === 0 ? (
          <p class="none">No activity in this period.</p>
        ) : (
          <AreaChart
            label="Activity"
            isLastOpen
            layers={[METRIC_LABELS.downloads, METRIC_LABELS.views]}
            places={everyDay(company.days).map(({ date, downloads, views }) => ({
              date,
              values: [downloads, views],
            }))}
          />
        )}
      </Panel>
      <div class="grid">
        <Panel title="Stage history">
          <Timeline changes={company.stage_history} />
        </Panel>
        <Panel title="Packages used">
          <p class="soft small">In the last {DAYS} days.</p>
          <Artifacts company={company} />
        </Panel>
      </div>
    </>
  );
}

const DAYS = 90;

/** The API leaves out days without activity. */
function everyDay(days: CompanyDetail["days"]): CompanyDetail["days"] {
  const known = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: DAYS }, (_, index) => {
    const date = dateAt(Date.now() - (DAYS - 1 - index) * DAY_MS);
    return known.get(date) ?? { date, downloads: 0, views: 0 };
  });
}

function Timeline({ changes }: { changes: readonly StageChangeRecord[] }) {
  if (changes.length === 0) return <p class="none">No stage yet. Stages are updated hourly.</p>;
  return (
    <ol class="timeline">
      {changes.map((change) => (
        <li>
          <p>
            <strong>{STAGE_LABELS[change.new_stage]}</strong>
            {change.old_stage !== undefined && (
              <span class="soft"> from {STAGE_LABELS[change.old_stage]}</span>
            )}
          </p>
          <p class="soft">
            <time dateTime={change.changed_at} title={formatTime(change.changed_at)}>
              {formatDate(change.changed_at.slice(0, 10))}
            </time>
            : {CAUSE_LABELS[change.cause]}
          </p>
        </li>
      ))}
    </ol>
  );
}

function Artifacts({ company: { artifacts, domain } }: { company: CompanyDetail }) {
  const visit = useVisit();
  const { href, owner } = visit;
  const address = ({ kind, id }: CompanyDetail["artifacts"][number]) =>
    href(kind === "package" ? path`/o/${owner.name}/packages/${id}` : path`/o/${owner.name}/pixels/${id}`);
  return (
    <Table
      caption="Packages and pixels used"
      columns={[
        "Package or pixel",
        { name: METRIC_LABELS.downloads, isNumber: true },
        { name: METRIC_LABELS.views, isNumber: true },
        "Versions",
      ]}
      rows={artifacts.map((artifact) => [
        <a href={address(artifact)}>{artifact.name}</a>,
        formatCount(artifact.downloads),
        formatCount(artifact.views),
        artifact.kind === "package" && (
          <a href={versionsOf(visit, { packageId: artifact.id, domains: [domain] })}>
            View versions<span class="hidden"> of {artifact.name}</span>
          </a>
        ),
      ])}
      empty={`No downloads or page views in the last ${DAYS} days.`}
    />
  );
}
