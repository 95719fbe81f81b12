import type { SourceKind } from "../../../../schemas/contracts/source.js";
import { crates } from "./crates.js";
import { dockerHub } from "./docker-hub.js";
import { githubReleases } from "./github-releases.js";
import { homebrew } from "./homebrew.js";
import { npm } from "./npm.js";
import { pypi } from "./pypi.js";
import type { Registry } from "./registry.js";
import { rubygems } from "./rubygems.js";

export const REGISTRIES: Readonly<Record<SourceKind, Registry>> = {
  npm,
  pypi,
  "docker-hub": dockerHub,
  "github-releases": githubReleases,
  crates,
  rubygems,
  homebrew,
};

/** `npm, PyPI or Homebrew`, of all registries. */
export const REGISTRY_TITLES = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
  Object.values(REGISTRIES).map(({ title }) => title),
);
