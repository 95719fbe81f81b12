/**
 * The version in the name of a distribution file (PEP 440), as written there, or undefined. The normalised name of the
 * project is needed to distinguish a hyphen in the name from the one before the version.
 */
export function versionOfFile(fileName: string, project: string): string | undefined {
  const stem = KINDS.flatMap(({ ending, hyphenFree }) =>
    fileName.toLowerCase().endsWith(ending) ? [{ text: fileName.slice(0, -ending.length), hyphenFree }] : [],
  )[0];
  if (stem === undefined) return undefined;
  return stem.hyphenFree ? versionOfWheel(stem.text, project) : versionOfArchive(stem.text, project);
}

/** No part of a wheel's or egg's name contains a hyphen. In source archives, both name and version may. */
const KINDS = [
  { ending: ".whl", hyphenFree: true },
  { ending: ".egg", hyphenFree: true },
  ...[".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.z", ".tbz", ".tar"].map((ending) => ({
    ending,
    hyphenFree: false,
  })),
];

/** PEP 503: how names are compared. */
export function normalizedName(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

function versionOfWheel(stem: string, project: string): string | undefined {
  const [name = "", version] = stem.split("-");
  return normalizedName(name) === project ? nonEmpty(version) : undefined;
}

function versionOfArchive(stem: string, project: string): string | undefined {
  for (let hyphen = stem.indexOf("-"); hyphen >= 0; hyphen = stem.indexOf("-", hyphen + 1)) {
    if (normalizedName(stem.slice(0, hyphen)) === project) return nonEmpty(stem.slice(hyphen + 1));
  }
  return undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
