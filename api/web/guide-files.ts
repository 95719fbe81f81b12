import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { assetUrl } from "../../schemas/asset.js";
import { prefixOf } from "./address.js";
import { type Picture, pictures } from "./assets/pictures.js";
import type { Visit } from "./page.js";

/** The guide's pages in the order of its list: the folders of `deploy/docs`, and two pages from elsewhere. */
export const GUIDE = [
  {
    title: "Start",
    folder: "start",
    names: ["readme", "quickstart", "core-ideas", "cases", "comparison", "glossary"],
  },
  {
    title: "Tutorials",
    folder: "tutorials",
    names: [
      "first-import",
      "web-server",
      "docker-image",
      "python-package",
      "npm-package",
      "release-files",
      "page-views",
    ],
  },
  {
    title: "How-to",
    folder: "how-to",
    names: [
      "host-names",
      "importing",
      "rejected-lines",
      "dashboard",
      "sources",
      "companies",
      "notifications",
      "webhooks",
      "badges",
      "annotations",
      "analysing",
      "assistants",
      "clients",
      "sharing",
      "sign-in",
      "move-from-scarf",
      "erasure",
      "privacy-notice",
    ],
  },
  {
    title: "Reference",
    folder: "reference",
    names: [
      "event-fields",
      "formats",
      "what-counts",
      "collector",
      "statistics",
      "exporting",
      "api",
      "command",
      "admin",
      "configuration",
      "metrics",
      "stored-data",
    ],
  },
  {
    title: "Explanation",
    folder: "explanation",
    names: ["exactly-once", "unique-ips", "company-lookup", "funnel", "durability", "privacy"],
  },
  {
    title: "Operate",
    folder: "operate",
    names: [
      "operating",
      "installations",
      "one-machine",
      "systemd",
      "compose",
      "kubernetes",
      "roles",
      "own-stores",
      "cluster",
      "sizing",
      "backup",
      "restore",
      "dead-letters",
      "retention",
      "upgrade",
      "hardening",
      "troubleshooting",
      "faq",
    ],
  },
  {
    title: "Contribute",
    folder: "contribute",
    names: ["contributing", "architecture", "releasing"],
  },
] as const;

export type GuideName = (typeof GUIDE)[number]["names"][number];

/** In the order of the list. */
export const GUIDE_NAMES: readonly GuideName[] = GUIDE.flatMap(({ names }): readonly GuideName[] => names);
const FOLDER = "deploy/docs";
const ELSEWHERE: Readonly<Record<string, string>> = {
  readme: "README.md",
  operating: "deploy/README.md",
};
/** Files to copy, which a page names. */
const SAMPLES = [
  "receivers/receive.mjs",
  "receivers/receive.py",
  "receivers/receive.sh",
  "report-install.mjs",
];

/** The paths of the files that are served, from the repository's root, by their names in addresses. */
const FILES: ReadonlyMap<string, string> = new Map([
  ...GUIDE.flatMap(({ folder, names }) =>
    names.map((name) => [name, ELSEWHERE[name] ?? `${FOLDER}/${folder}/${name}.md`] as const),
  ),
  ...SAMPLES.map((path) => [posix.basename(path), `${FOLDER}/${path}`] as const),
]);

export function isPage(name: string): name is GuideName {
  return GUIDE_NAMES.some((known) => known === name);
}

/** The path of a file that has this name in addresses. */
export function guideFile(name: string): string | undefined {
  return FILES.get(name);
}

const texts = new Map<string, string>();

/** Files are read once: they change with the program. */
export function readGuide(path: string): string {
  const text = texts.get(path) ?? readFileSync(assetUrl(path), "utf8");
  texts.set(path, text);
  return text;
}

/** The words of a page's first heading. */
export function guideTitle(name: GuideName): string {
  const [, title = name] = /^# (.+)$/m.exec(readGuide(FILES.get(name) ?? "")) ?? [];
  return title;
}

/** The address of the page of the API. */
export function docsAddress({ ctx }: Visit): string {
  return `${prefixOf(ctx.state.publicBase)}/docs`;
}

/** The address of a page of the guide; of its start without a name. */
export function guideAddress(visit: Visit, name: string = "readme", heading?: string): string {
  const page = `${docsAddress(visit)}/guide${name === "readme" ? "" : `/${name}`}`;
  return heading === undefined ? page : `${page}#${heading}`;
}

/** Where a link on a page leads, as an address of this service; undefined for a file that is not served. */
export function linkOn(visit: Visit, page: string): (target: string) => string | undefined {
  return (target) => {
    if (/^(https?:|#)/.test(target)) return target;
    const [file = "", heading] = target.split("#");
    const path = posix.join(posix.dirname(page), file);
    const [name] = [...FILES].find(([, served]) => served === path) ?? [];
    return name === undefined ? undefined : guideAddress(visit, name, heading);
  };
}

/** A picture that a page shows, with its address. */
export type ShownPicture = Pick<Picture, "width" | "height"> & { src: string };

/** The picture that a page names by its path; undefined for a file that is not served. */
export function pictureOn(visit: Visit, page: string): (target: string) => ShownPicture | undefined {
  return (target) => {
    const path = posix.join(posix.dirname(page), target);
    const found = pictures().find((picture) => picture.path === path);
    return found && { src: visit.asset(found.name), width: found.width, height: found.height };
  };
}
