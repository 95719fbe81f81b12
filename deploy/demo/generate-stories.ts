import { DAY_MS } from "../../schemas/date-range.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { VISITORS } from "./client-pool.js";
import { detailsText } from "./event-details.js";
import { Random } from "./random.js";
import { pickUserAgent } from "./user-agents.js";

/** How long ago the events of the demo begin. */
export const DEMO_DAYS = 120;

export interface StoryMix {
  seed: number;
  packages: readonly { id: string; libraryType: LibraryType }[];
  pixel: string;
  /** Milliseconds since the epoch; stories end before this day. */
  now: number;
  /** Requests of the crawler. */
  crawled: number;
}

/** Lines of companies that come, stay and leave, which takes them through every funnel stage, and of a crawler's wave. */
export function* generateStories(mix: StoryMix): Generator<string> {
  for (const [nth, { v4 }] of VISITORS.entries()) {
    const { views = [], downloads = [] } = STORIES[nth % STORIES.length] ?? {};
    const visitor = { nth, address: `${v4[0]}.12.${10 + nth}` };
    for (const daysAgo of views) yield viewLine(mix, { ...visitor, daysAgo });
    for (const daysAgo of downloads) yield downloadLine(mix, { ...visitor, daysAgo });
  }
  for (let nth = 0; nth < mix.crawled; nth += 1) yield crawlLine(mix, nth);
}

/** On which days before the demo a company views pages, and downloads. */
interface Story {
  views?: readonly number[];
  downloads?: readonly number[];
}

const STORIES: readonly Story[] = [
  // Looks around.
  { views: [33, 18, 3] },
  // Settles.
  {
    views: [112, 105, 101, 60],
    downloads: [98, 95, 90, 84, 80, 75, 70, 66, 60, 55, 49, 44, 40, 33, 28, 25, 20, 16, 11, 6, 2],
  },
  // Tries it now.
  { views: [12, 8], downloads: [11, 7, 6] },
  // Left.
  { views: [110, 103], downloads: [102, 99, 94, 88, 83] },
  // Tried it once.
  { views: [40], downloads: [9] },
  // Left, and is back.
  { views: [116, 8], downloads: [118, 112, 105, 5] },
  // Reads, week after week.
  { views: [27, 20, 13] },
  // New this week.
  { views: [4], downloads: [3, 2] },
  { views: [2] },
];

interface Visit {
  nth: number;
  address: string;
  daysAgo: number;
}

function viewLine({ seed, pixel, now }: StoryMix, { nth, address, daysAgo }: Visit): string {
  const random = Random.at(seed, nth * 1_000 + daysAgo, VIEWS);
  const agent = JSON.stringify(pickUserAgent("pixel", random));
  return (
    `{"$pixel":"${pixel}","$time":${timeAt(now, daysAgo, random)},"$remote_address":"${address}",` +
    `"$user_agent":${agent}${detailsText("pixel", random)}}`
  );
}

function downloadLine({ seed, packages, now }: StoryMix, { nth, address, daysAgo }: Visit): string {
  const random = Random.at(seed, nth * 1_000 + daysAgo, DOWNLOADS);
  const { id = "", libraryType = "other" } = packages[nth % packages.length] ?? {};
  const agent = JSON.stringify(pickUserAgent(libraryType, random));
  return (
    `{"$package":"${id}","$time":${timeAt(now, daysAgo, random)},"$remote_address":"${address}",` +
    `"$user_agent":${agent}${detailsText(libraryType, random, 1 - daysAgo / DEMO_DAYS)}}`
  );
}

/** The wave: how long ago it began, and how long it lasted. */
export const CRAWL = { daysAgo: 24, days: 3 };
const CRAWLER = "Mozilla/5.0 (compatible; MirrorBot/2.1; +https://bot.example.org/about)";

function crawlLine({ seed, packages, now }: StoryMix, nth: number): string {
  const random = Random.at(seed, nth, CRAWLS);
  const { id = "", libraryType = "other" } = packages.at(-1) ?? {};
  const daysAgo = CRAWL.daysAgo - Math.min(CRAWL.days - 1, random.belowSkewed(CRAWL.days));
  return (
    `{"$package":"${id}","$time":${timeAt(now, daysAgo, random)},"$remote_address":"95.217.40.${random.below(16)}",` +
    `"$user_agent":"${CRAWLER}"${detailsText(libraryType, random, 1 - daysAgo / DEMO_DAYS)}}`
  );
}

// Random streams, beside those of other lines.
const VIEWS = 200;
const DOWNLOADS = 201;
const CRAWLS = 202;

function timeAt(now: number, daysAgo: number, random: Random): string {
  const today = now - (now % DAY_MS);
  return `"${new Date(today - daysAgo * DAY_MS + random.below(DAY_MS)).toISOString()}"`;
}
