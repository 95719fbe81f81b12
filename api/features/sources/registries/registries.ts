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
