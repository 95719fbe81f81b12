import { DAY_MS, addDays, dateAt } from "../../schemas/date-range.js";
import type { ApiClient } from "./api-client.js";
import { RELEASED_AT, RELEASES } from "./event-details.js";
import { CRAWL, DEMO_DAYS, type StoryMix, generateStories } from "./generate-stories.js";

interface StoryJob extends Omit<StoryMix, "crawled"> {
  organization: string;
  events: number;
  detail: (text: string) => void;
}

/** Of 20 events one more is a crawler's. */
const CRAWLED_SHARE = 0.05;

export async function importStories(
  api: ApiClient,
  { organization, events, detail, ...mix }: StoryJob,
): Promise<void> {
  const crawled = Math.round(events * CRAWLED_SHARE);
  const lines = [...generateStories({ ...mix, crawled })];
  const started = await api.importBody(`/v2/${organization}/import`, lines.join("\n"));
  const { events_successfully_imported: imported } = await api.pollToDone(started);
  detail(`  ${imported} more events, from companies that come and go and from a crawler.\n`);
}

interface Noted {
  organization: string;
  from: string;
  now: number;
}

/** Notes on charts: the releases, whose adoption the versions show, and the days of the crawler. */
export async function noteReleases(api: ApiClient, { organization, from, now }: Noted): Promise<void> {
  const note = (body: object) => api.post(`/v2/${organization}/annotations`, body);
  for (const [nth, at] of RELEASED_AT.entries())
    await note({ date: addDays(from, at * DEMO_DAYS), text: `${RELEASES[nth]} released` });
  const [first, last] = [CRAWL.daysAgo, CRAWL.daysAgo - CRAWL.days + 1].map((ago) =>
    dateAt(now - ago * DAY_MS),
  );
  await note({ date: first, end_date: last, text: "A crawler downloaded every file" });
}
