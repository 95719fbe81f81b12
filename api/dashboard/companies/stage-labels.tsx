import type { Stage, StageCause } from "../../../schemas/records/funnel.js";
import { Badge, type BadgeKind } from "../../web/parts/panel.js";

export const STAGE_LABELS: Record<Stage, string> = {
  interest: "Interest",
  investigation: "Investigation",
  experimentation: "Experimentation",
  "ongoing-usage": "Ongoing usage",
  inactive: "Inactive",
};

const KINDS: Record<Stage, BadgeKind> = {
  interest: "plain",
  investigation: "busy",
  experimentation: "busy",
  "ongoing-usage": "good",
  inactive: "warn",
};

export function StageBadge({ stage }: { stage: Stage | undefined }) {
  if (stage === undefined) return <span class="soft">No stage yet</span>;
  return <Badge kind={KINDS[stage]}>{STAGE_LABELS[stage]}</Badge>;
}

/** Why a company reached a stage; ends a sentence. */
export const CAUSE_LABELS: Record<StageCause, string> = {
  view: "viewed a page",
  download: "downloaded a package",
  score: "reached the required score in the last 30 days",
  "views-in-consecutive-weeks": "viewed pages two weeks in a row",
  "downloads-and-view": "downloaded on several days and viewed a page",
  "activity-in-three-windows": "active in each of the last three months",
  "no-activity": "no activity for 60 days",
};
