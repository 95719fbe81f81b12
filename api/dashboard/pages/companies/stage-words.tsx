import type { Stage, StageCause } from "../../../../schemas/records/funnel.js";
import { Badge, type BadgeKind } from "../../parts/panel.js";

export const STAGE_WORDS: Record<Stage, string> = {
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
  if (stage === undefined) return <span class="soft">None yet</span>;
  return <Badge kind={KINDS[stage]}>{STAGE_WORDS[stage]}</Badge>;
}

/** Why a company came to a stage; ends a sentence. */
export const CAUSE_WORDS: Record<StageCause, string> = {
  view: "it viewed a page",
  download: "it downloaded a package",
  score: "its score of the last 30 days is high enough",
  "views-in-consecutive-weeks": "it viewed pages in two weeks running",
  "downloads-and-view": "it downloaded on several days and viewed a page",
  "activity-in-three-windows": "it was active in each of the last three months",
  "no-activity": "it did nothing for 60 days",
};
