import type { PackageAccess } from "../../../schemas/contracts/package-access.js";
import type { HostReach } from "../../../schemas/contracts/package-routing.js";
import { path } from "../../web/address.js";
import { type Note, NotesContext } from "../../web/charts/notes.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { PageHead } from "../../web/parts/panel.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { type Reported, ReportedPanel, loadReported } from "../statistics/reported-panel.js";
import { loadNotes } from "../statistics/load-notes.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";
import { DataAsOf } from "../statistics/metric-tiles.js";
import { type OtherPackages, loadOtherPackages } from "../statistics/compared-package.js";
import { panelsForPackage } from "../../web/statistics/panels.js";
import { readState } from "../../web/statistics/view-state.js";
import { Adoption, EndsOfLife, type LoadedVersions, loadVersions } from "../statistics/adoption.js";
import { StatisticsView } from "../statistics/statistics-view.js";
import { type LoadedStatistics, isNew, loadStatistics } from "../../web/statistics/load-statistics.js";
import { WholeList, loadWholeList } from "../statistics/whole-list.js";
import { TYPES, ifAllowed, packageAccessOf, upstreamOf } from "../../web/artifacts-of.js";
import { FirstSteps } from "../first-steps/first-steps.js";
import { STEP_NOTICES, takeStep } from "../first-steps/step-form.js";

interface PackageData {
  access: PackageAccess;
  loaded: LoadedStatistics;
  /** Nothing was ever counted, as far as statistics reach. */
  isNew: boolean;
  reported: Reported | undefined;
  versions: LoadedVersions;
  range: DateRange;
  notes: readonly Note[];
  /** How far its hosts can be reached, while nothing was counted. */
  hosts: readonly HostReach[];
  /** The URL that users pull an image from; absent once something was counted. */
  publicUrl: string | undefined;
  packages: OtherPackages;
}

export const packagePage = page<PackageData>({
  path: "/o/:owner/packages/:package",
  section: "overview",
  async load(visit) {
    const access = await packageAccessOf(visit);
    const packageId = access.package.uuid;
    const state = readState(visit);
    const { startDate, endDate } = state;
    const range = { startDate, endDate };
    const [loaded, reported, versions, notes] = await Promise.all([
      loadStatistics(visit, { package: packageId }),
      loadReported(visit, { range, packageId }),
      loadVersions(visit, { state, packageId }),
      loadNotes(visit, { range, packageId }),
    ]);
    const [hosts, publicUrl, packages] = await Promise.all([
      isNew(loaded) ? hostsOf(visit, packageId) : [],
      isNew(loaded) ? publicUrlOf(visit, packageId) : undefined,
      loadOtherPackages(visit, { state: loaded.state, packageId }),
    ]);
    return {
      access,
      loaded,
      isNew: isNew(loaded),
      reported,
      versions,
      range,
      notes,
      hosts,
      publicUrl,
      packages,
    };
  },
  title: ({ access }) => access.package.name,
  render: (data) => (
    <NotesContext.Provider value={data.notes}>
      <PackageContent {...data} />
    </NotesContext.Provider>
  ),
  submit: takeStep,
  notices: (data) => ({
    ...STEP_NOTICES,
    ...(data.isNew && { created: "Package created. Send your first event." }),
    "from-page": hasFailed(data.reported)
      ? "Package created."
      : "Package created. Fetching counts from its registry…",
  }),
});

function hasFailed(reported: Reported | undefined): boolean {
  return reported?.sources.some(({ last_error: error }) => error !== undefined) ?? false;
}

/** None for those who may not change the package. */
async function hostsOf({ api, owner }: Visit, packageId: string): Promise<readonly HostReach[]> {
  const asked = api<{ hosts: HostReach[] }>({ path: path`/v2/packages/${owner.name}/${packageId}/hosts` });
  return (await ifAllowed(asked))?.hosts ?? [];
}

async function publicUrlOf(visit: Visit, packageId: string): Promise<string | undefined> {
  return (await ifAllowed(upstreamOf(visit, packageId)))?.public_url;
}

function PackageContent(data: PackageData) {
  const { access, loaded, isNew, reported, versions, range, hosts, publicUrl, packages } = data;
  const { href, owner } = useVisit();
  const { package: found, may_change: mayChange, may_import: mayImport, may_export: mayExport } = access;
  const type = found.libraryType ?? "other";
  return (
    <>
      <PageHead
        title={<bdi>{found.name}</bdi>}
        about={
          <>
            <span class="badge">{TYPES[type]}</span> {found.shortDescription}{" "}
            {loaded.statistics && (
              <DataAsOf time={loaded.statistics.complete_through} from={loaded.statistics.events_from} />
            )}
          </>
        }
      >
        {mayChange && (
          <a class="button" href={href(path`/o/${owner.name}/settings/packages/${found.uuid}`)}>
            Settings
          </a>
        )}
        {mayManage(owner) && (
          <a class="button" href={href(path`/o/${owner.name}/settings/annotations`, { package: found.uuid })}>
            Annotations
          </a>
        )}
        {mayImport && (
          <a class="button" href={href(path`/o/${owner.name}/imports/new`, { package: found.uuid })}>
            Import file
          </a>
        )}
      </PageHead>
      {isNew && reported && <ReportedPanel {...reported} range={range} isDrawn />}
      {isNew ? (
        <FirstSteps
          subject={{ kind: "package", found }}
          hosts={hosts}
          publicUrl={publicUrl}
          mayChange={mayChange}
        />
      ) : (
        <>
          <StatisticsView
            loaded={loaded}
            panels={panelsForPackage(type)}
            unit={METRIC_LABELS.downloads}
            mayExport={mayExport}
            packages={packages}
          />
          <Adoption adoption={versions.adoption} />
          <EndsOfLife ends={versions.ends} />
        </>
      )}
      {!isNew && reported && (
        <ReportedPanel {...reported} range={range} seen={loaded.statistics?.totals.downloads} isDrawn />
      )}
    </>
  );
}

export const packageListPage = page({
  path: "/o/:owner/packages/:package/all/:breakdown",
  section: "overview",
  async load(visit) {
    const { package: found, may_export: mayExport } = await packageAccessOf(visit);
    return { found, mayExport, data: await loadWholeList(visit, { package: found.uuid }) };
  },
  title: ({ found, data }) => `${data.panel.title} · ${found.name}`,
  render: ({ found, mayExport, data }, { href, owner, param }) => (
    <WholeList
      data={data}
      back={href(path`/o/${owner.name}/packages/${param("package")}`)}
      about={found.name}
      unit={METRIC_LABELS[data.panel.list.counts]}
      mayExport={mayExport}
    />
  ),
});
