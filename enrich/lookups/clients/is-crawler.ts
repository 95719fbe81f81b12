import { createRequire } from "node:module";

interface Crawler {
  /** A regular expression. */
  pattern: string;
  tags?: string[];
}

/**
 * Whether a user agent that is no browser's names a crawler, a monitor, a link preview or a feed reader: those of
 * crawler-user-agents (MIT), without the HTTP libraries that people and installers use as well, and those below. Takes
 * some 50 µs for a name that is none: ask for each user agent once.
 */
export function isCrawler(userAgent: string): boolean {
  if (INSTALLER.test(userAgent)) return false;
  const text = userAgent.slice(0, LENGTH_MAX);
  pattern ??= compile();
  return pattern.test(text);
}

/** Programs that name themselves first, with all that they know of their machine behind. */
const INSTALLER =
  /^(?:pip|uv|poetry|pdm|hatch|twine|conda|mamba|docker|containerd|npm|pnpm|yarn|bun|bundler|composer|cargo)\//i;

/** They name themselves at the beginning. */
const LENGTH_MAX = 512;

/** What the list does not have. */
const OTHERS = [
  ...["Monit/", "Munin ", "Icinga/", "Gatus/", "AlwaysOn", "Freshping/", "[Uu]pdown\\.io"].map(
    (name) => `^${name}`,
  ),
  ...["Prometheus/", "Google-Cloud-Scheduler", "gobuster/", "Pinterest/", "Misskey/", "gotosocial/"].map(
    (name) => `^${name}`,
  ),
  // Pleroma and its forks: `Pleroma 2.5.0; https://example.org <admin@example.org>; Bot`
  "; ?[Bb]ot$",
  ...[
    "Pinger\\b",
    "Synthetics\\b",
    "[Hh]ealth[ -]?[Cc]heck",
    "[Uu]ptime[ -]?(?:[Bb]ot|[Kk]uma|[Cc]heck|[Mm]onitor)",
  ],
  ...[
    "[Ff]eed ?(?:[Ff]etcher|[Pp]arser)",
    "RSS Reader",
    "^Liferea/",
    "[Ll]ink ?[Pp]review",
    "[Ll]ink ?[Cc]hecker",
  ],
  ...[
    "^lychee/",
    "^HTTrack",
    "^Nuclei ",
    "^Wappalyzer",
    "^Microsoft Office Existence",
    "\\bWordPress\\.com\\b",
  ],
];

let pattern: RegExp | undefined;

function compile(): RegExp {
  const list = createRequire(import.meta.url)("crawler-user-agents") as Crawler[];
  const crawlers = list.filter(({ tags = [] }) => !tags.includes("http-library"));
  return new RegExp([...crawlers.map((crawler) => crawler.pattern), ...OTHERS].join("|"));
}
