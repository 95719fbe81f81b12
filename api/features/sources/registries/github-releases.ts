import { githubRelease } from "../../packages/annotations/release-event.js";
import type { Metric } from "../../../../schemas/contracts/source.js";
import {
  type Ask,
  type Published,
  type Reading,
  type Registry,
  TEXT,
  WHOLE,
  compileAnswer,
  fieldsOf,
  listOf,
  publishedOn,
} from "./registry.js";

const TIME = { type: "string", pattern: "^20\\d\\d-[01]\\d-[0-3]\\dT[0-2]\\d:[0-5]\\d:[0-6]\\dZ$" } as const;
const ASSETS_MAX = 1_000;
const PER_PAGE = 100;
const PAGES_MAX = 10;

interface Release {
  tag_name: string;
  /** Absent or null for a draft. */
  published_at?: string | null;
  assets: { id: number; download_count: number; created_at: string }[];
}

const readReleases = compileAnswer<Release[]>(
  listOf(
    fieldsOf(
      {
        tag_name: TEXT,
        published_at: { type: ["string", "null"] },
        assets: listOf(fieldsOf({ id: WHOLE, download_count: WHOLE, created_at: TIME }), ASSETS_MAX),
      },
      ["published_at"],
    ),
    PER_PAGE,
  ),
);

type Traffic = { [Field in "views" | "clones"]?: { timestamp: string; count: number }[] };
const DAYS_OF_TRAFFIC = listOf(fieldsOf({ timestamp: TIME, count: WHOLE }), 100);
const readTraffic = compileAnswer<Traffic>(
  fieldsOf({ views: DAYS_OF_TRAFFIC, clones: DAYS_OF_TRAFFIC }, ["views", "clones"]),
);

/**
 * Downloads of the assets of releases since each exists: days are differences. An asset that is replaced has a new id.
 * With a token that may push to the repository also its views and clones of the last 14 days. Sources:
 * https://docs.github.com/en/rest/releases/releases#list-releases and https://docs.github.com/en/rest/metrics/traffic
 */
export const githubReleases: Registry = {
  url: "https://api.github.com",
  title: "GitHub",
  noun: "repository",
  name: {
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/,
    example: "acme/tool",
  },
  pageOf: (name) => `https://github.com/${name}/releases`,
  pages: [{ hosts: ["github.com", "www.github.com"], path: /^\/([^/]+\/[^/]+?)(?:\.git)?(?:\/|$)/ }],
  takesToken: true,
  ask({ name, hasToken }) {
    const traffic = (["views", "clones"] as const).map((metric): Ask => trafficOf(name, metric));
    return [releasesOf(name, 1), ...(hasToken ? traffic : [])];
  },
  read(answer, { path }, { name }) {
    if (path.startsWith(`/repos/${name}/traffic/`)) return trafficIn(answer);
    const releases = readReleases(answer);
    const page = Number(/page=(\d+)$/.exec(path)?.[1]);
    const hasMore = releases.length === PER_PAGE && page < PAGES_MAX;
    return {
      counters: releases.flatMap(countersOf),
      releases: releases.flatMap((release) => publishedIn(name, release)),
      ...(hasMore && { more: releasesOf(name, page + 1) }),
    };
  },
};

function releasesOf(name: string, page: number): Ask {
  return { path: `/repos/${name}/releases?per_page=${PER_PAGE}&page=${page}` };
}

function publishedIn(name: string, { tag_name: version, published_at: at }: Release): Published[] {
  const date = publishedOn(at);
  const url = `https://github.com/${name}/releases/tag/${encodeURIComponent(version)}`;
  return date === undefined ? [] : [{ version, date, url, key: githubRelease(name, version) }];
}

function trafficOf(name: string, metric: Metric): Ask {
  return { path: `/repos/${name}/traffic/${metric}`, isOptional: true };
}

function countersOf({ tag_name: version, assets }: Release) {
  return assets.map(({ id, download_count: value, created_at: since }) => ({
    key: `asset ${id}`,
    version,
    metric: "downloads" as const,
    value,
    since,
  }));
}

function trafficIn(answer: unknown): Reading {
  const traffic = readTraffic(answer);
  const counts = (["views", "clones"] as const).flatMap((metric) =>
    (traffic[metric] ?? []).map(({ timestamp, count }) => ({
      date: timestamp.slice(0, 10),
      metric,
      value: count,
    })),
  );
  return { counts };
}
