import { VERSION_GROUPINGS } from "../../../schemas/contracts/statistics.js";
import { useVisit } from "../../web/page.js";
import { Tabs } from "../../web/parts/panel.js";
import { linkWith, type ViewState } from "../../web/statistics/view-state.js";

/** Chooses how versions are grouped, in their list and in the chart of their adoption. */
export function VersionTabs({ state }: { state: ViewState }) {
  const visit = useVisit();
  return (
    <Tabs
      label="Group versions by"
      tabs={VERSION_GROUPINGS.map((by) => ({
        label: LABELS[by],
        href: linkWith(visit, { versions: by === "exact" ? undefined : by }),
        isCurrent: by === state.versions,
      }))}
    />
  );
}

const LABELS = { exact: "Exact", minor: "Minor", major: "Major" } as const;
