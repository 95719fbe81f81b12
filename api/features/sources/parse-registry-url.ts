import type { SourceKind } from "../../../schemas/contracts/source.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { REGISTRIES } from "./registries/registries.js";

export interface RegistryName {
  kind: SourceKind;
  name: string;
}

/** The path of a thing's page at its registry: the name is its first group. */
const PAGES: readonly { hosts: readonly string[]; kind: SourceKind; path: RegExp }[] = [
  { hosts: ["npmjs.com", "www.npmjs.com"], kind: "npm", path: /^\/package\/((?:@[^/]+\/)?[^/]+)/ },
  { hosts: ["pypi.org", "pypistats.org"], kind: "pypi", path: /^\/(?:project|packages)\/([^/]+)/ },
  { hosts: ["hub.docker.com"], kind: "docker-hub", path: /^\/r\/([^/]+\/[^/]+)/ },
  { hosts: ["hub.docker.com"], kind: "docker-hub", path: /^\/_\/([^/]+)/ },
  { hosts: ["hub.docker.com"], kind: "docker-hub", path: /^\/repository\/docker\/([^/]+\/[^/]+)/ },
  {
    hosts: ["github.com", "www.github.com"],
    kind: "github-releases",
    path: /^\/([^/]+\/[^/]+?)(?:\.git)?(?:\/|$)/,
  },
  { hosts: ["crates.io"], kind: "crates", path: /^\/crates\/([^/]+)/ },
  { hosts: ["rubygems.org"], kind: "rubygems", path: /^\/gems\/([^/]+)/ },
  { hosts: ["formulae.brew.sh"], kind: "homebrew", path: /^\/formula\/([^/]+)/ },
];

/** What a registry's page is about, `https://` or not; undefined for any other address. */
export function parseRegistryUrl(address: string): RegistryName | undefined {
  const text = /^https?:\/\//i.test(address) ? address : `https://${address}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, pathname } = new URL(text);
  for (const { hosts, kind, path } of PAGES) {
    const name = hosts.includes(hostname) ? decoded(path.exec(pathname)?.[1]) : undefined;
    if (name !== undefined && REGISTRIES[kind].name.pattern.test(name)) return { kind, name };
  }
  return undefined;
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The package that counts live what a source counts at its registry. */
export function packageFor({ kind, name }: RegistryName): {
  name: string;
  libraryType: LibraryType;
  backendUrl?: string;
} {
  if (kind === "npm") return { name, libraryType: "npm" };
  if (kind === "pypi") return { name, libraryType: "pypi" };
  const short = name.slice(name.lastIndexOf("/") + 1);
  if (kind !== "docker-hub") return { name: short, libraryType: "other" };
  const path = name.includes("/") ? name : `library/${name}`;
  return { name: short, libraryType: "docker", backendUrl: `https://docker.io/${path}` };
}
