import { expect, test } from "vitest";
import { replayDays } from "../../../../aggregate/funnel/replay-days.js";
import { CRAWL, generateStories } from "../../../../deploy/demo/generate-stories.js";
import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { type ActiveDay, STAGES } from "../../../../schemas/records/funnel.js";

const NOW = Date.parse("2026-03-11T15:00:00Z");
const packages = [
  { id: "11111111-1111-4111-8111-111111111111", libraryType: "docker" as const },
  { id: "33333333-3333-4333-8333-333333333333", libraryType: "other" as const },
];
const mix = { seed: 7, packages, pixel: "44444444-4444-4444-8444-444444444444", now: NOW, crawled: 500 };

interface Line {
  $time: string;
  $package?: string;
  $remote_address: string;
  $user_agent: string;
}

const LINES = [...generateStories(mix)].map((text) => JSON.parse(text) as Line);
const isCrawler = ({ $user_agent: agent }: Line) => agent.includes("MirrorBot");

function activeDay({ $time: time, $package: id }: Line): ActiveDay {
  const [downloads, views] = id === undefined ? [0, 1] : [1, 0];
  return { date: time.slice(0, 10), downloads, views, downloadPoints: 5 * downloads, viewPoints: views / 2 };
}

test("stories leave companies at every stage, and one that left has come back", () => {
  const ofCompany = new Map<string, ActiveDay[]>();
  for (const line of LINES.filter((each) => !isCrawler(each)))
    ofCompany.set(line.$remote_address, [...(ofCompany.get(line.$remote_address) ?? []), activeDay(line)]);
  const stages = [...ofCompany.values()].map((days) =>
    replayDays(
      days.sort((a, b) => (a.date < b.date ? -1 : 1)),
      dateAt(NOW),
    ).map(({ newStage }) => newStage),
  );
  expect(new Set(stages.map((each) => each.at(-1)))).toEqual(new Set(STAGES));
  expect(stages.some((each) => each.indexOf("inactive") >= 0 && each.at(-1) !== "inactive")).toBe(true);
});

test("a crawler comes as often as it is told to, on the days of its wave", () => {
  const days = LINES.filter(isCrawler).map(({ $time: time }) => time.slice(0, 10));
  expect(days).toHaveLength(500);
  const wave = [0, 1, 2].map((day) => dateAt(NOW - (CRAWL.daysAgo - day) * DAY_MS));
  expect([...new Set(days)].sort()).toEqual(wave);
});
