import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { assetUrl } from "../../../schemas/asset.js";
import { prefixOf } from "../address.js";
import type { Visit } from "../page.js";

/** The guide's pages in the order of its list: the folders of `deploy/docs`, and two pages from elsewhere. */
export const GUIDE = [
  { title: "Start", folder: "start", names: ["readme", "cases", "glossary"] },
  { title: "Tutorials", folder: "tutorials", names: ["first-import"] },
  {
    title: "How-to",
    folder: "how-to",
    names: [
      "dashboard",
      "importing",
      "sources",
      "companies",
      "analysing",
      "badges",
      "annotations",
      "webhooks",
      "notifications",
      "assistants",
      "clients",
    ],
  },
  {
    title: "Reference",
    folder: "reference",
    names: [
      "collecting",
      "statistics",
      "exporting",
      "command",
      "managing",
      "configuration",
      "metrics",
      "retention",
    ],
  },
  { title: "Explanation", folder: "explanation", names: ["funnel"] },
  {
    title: "Operate",
    folder: "operate",
    names: ["operating", "install", "kubernetes", "cluster", "backup", "upgrade"],
  },
  { title: "Contribute", folder: "contribute", names: ["architecture", "contributing", "releasing"] },
] as const;

export type GuideName = (typeof GUIDE)[number]["names"][number];

const NAMES: readonly GuideName[] = GUIDE.flatMap(({ names }): readonly GuideName[] => names);
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
  return NAMES.some((known) => known === name);
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
    if (path === `${FOLDER}/package.png`) return visit.asset("package.png");
    const [name] = [...FILES].find(([, served]) => served === path) ?? [];
    return name === undefined ? undefined : guideAddress(visit, name, heading);
  };
}
