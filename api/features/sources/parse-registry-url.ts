import type { SourceKind, SourceRecord } from "../../../schemas/contracts/source.js";
import { REGISTRIES } from "./registries/registries.js";
import type { RegistryPackage } from "./registries/registry.js";

export type RegistryName = Pick<SourceRecord, "kind" | "name">;

/** The kind and name of a registry's page, with or without `https://`. Undefined for any other address. */
export function parseRegistryUrl(address: string): RegistryName | undefined {
  const text = /^https?:\/\//i.test(address) ? address : `https://${address}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, pathname } = new URL(text);
  for (const { hosts, kind, path, pattern } of PAGES) {
    const name = hosts.includes(hostname) ? decoded(path.exec(pathname)?.[1]) : undefined;
    if (name !== undefined && pattern.test(name)) return { kind, name };
  }
  return undefined;
}

const PAGES = Object.entries(REGISTRIES).flatMap(
  ([
    kind,
    {
      pages,
      name: { pattern },
    },
  ]) => pages.map((page) => ({ ...page, kind: kind as SourceKind, pattern })),
);

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The package that counts live what a source counts at its registry. */
export function packageFor({ kind, name }: RegistryName): RegistryPackage {
  const short = name.slice(name.lastIndexOf("/") + 1);
  return REGISTRIES[kind].packageOf?.(name) ?? { name: short, libraryType: "other" };
}
