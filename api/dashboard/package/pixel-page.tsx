import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import { path } from "../../web/address.js";
import { page, useVisit } from "../../web/page.js";
import { PageHead } from "../../web/parts/panel.js";
import { type LoadedStatistics, isNew, loadStatistics } from "../../web/statistics/load-statistics.js";
import { METRIC_LABELS } from "../../web/statistics/metric-labels.js";
import { DataAsOf } from "../statistics/metric-tiles.js";
import { PANELS } from "../../web/statistics/panels.js";
import { StatisticsView } from "../statistics/statistics-view.js";
import { WholeList, loadWholeList } from "../statistics/whole-list.js";
import { FirstSteps } from "../first-steps/first-steps.js";

interface PixelData {
  found: PixelRecord;
  loaded: LoadedStatistics;
  isNew: boolean;
}

export const pixelPage = page<PixelData>({
  path: "/o/:owner/pixels/:pixel",
  section: "overview",
  async load(visit) {
    const { api, owner, param } = visit;
    const found = await api<PixelRecord>({ path: path`/v2/pixels/${owner.name}/${param("pixel")}` });
    const subject = { pixel: found.id };
    const loaded = await loadStatistics(visit, subject);
    return { found, loaded, isNew: isNew(loaded) };
  },
  title: ({ found }) => found.name,
  render: (data) => <PixelContent {...data} />,
  notices: (data) => (data.isNew ? { created: "Pixel created. Add it to a page." } : {}),
});

/** A pixel's views have no versions, and its variables are those of the page. */
const PIXEL_PANELS = ["page", "country", "company", "client", "platform", "cloud_provider"];

function PixelContent({ found, loaded, isNew }: PixelData) {
  const { mayExport } = useVisit().owner;
  const panels = PIXEL_PANELS.flatMap((name) => PANELS.filter(({ list }) => list.name === name));
  return (
    <>
      <PageHead
        title={<bdi>{found.name}</bdi>}
        about={
          <>
            <span class="badge">Pixel</span>{" "}
            {loaded.statistics && (
              <DataAsOf time={loaded.statistics.complete_through} from={loaded.statistics.events_from} />
            )}
          </>
        }
      />
      {isNew ? (
        <FirstSteps subject={{ kind: "pixel", found }} />
      ) : (
        <StatisticsView loaded={loaded} panels={panels} unit={METRIC_LABELS.views} mayExport={mayExport} />
      )}
    </>
  );
}

export const pixelListPage = page({
  path: "/o/:owner/pixels/:pixel/all/:breakdown",
  section: "overview",
  async load(visit) {
    const { api, owner, param } = visit;
    const found = await api<PixelRecord>({ path: path`/v2/pixels/${owner.name}/${param("pixel")}` });
    return { found, data: await loadWholeList(visit, { pixel: found.id }) };
  },
  title: ({ found, data }) => `${data.panel.title} · ${found.name}`,
  render: ({ found, data }, { href, owner }) => (
    <WholeList
      data={data}
      back={href(path`/o/${owner.name}/pixels/${found.id}`)}
      about={found.name}
      unit={METRIC_LABELS.views}
      mayExport={owner.mayExport}
    />
  ),
});
