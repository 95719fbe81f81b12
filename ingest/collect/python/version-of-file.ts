/**
 * The version that the name of a distribution file says, as written there (PEP 440), or undefined. `project` is its
 * project's name, normalised; without it a hyphen in a name could not be told from the one before the version.
 */
export function versionOfFile(fileName: string, project: string): string | undefined {
  const stem = KINDS.flatMap(({ ending, inParts }) =>
    fileName.toLowerCase().endsWith(ending) ? [{ text: fileName.slice(0, -ending.length), inParts }] : [],
  )[0];
  if (stem === undefined) return undefined;
  return stem.inParts ? versionInParts(stem.text, project) : versionBehindName(stem.text, project);
}

/** Of wheels and eggs no part may contain a hyphen; of source archives both name and version may. */
const KINDS = [
  { ending: ".whl", inParts: true },
  { ending: ".egg", inParts: true },
  ...[".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.z", ".tbz", ".tar"].map((ending) => ({
    ending,
    inParts: false,
  })),
];

/** PEP 503: how names are compared. */
export function normalizedName(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

function versionInParts(stem: string, project: string): string | undefined {
  const [name = "", version] = stem.split("-");
  return normalizedName(name) === project ? nonEmpty(version) : undefined;
}

function versionBehindName(stem: string, project: string): string | undefined {
  for (let hyphen = stem.indexOf("-"); hyphen >= 0; hyphen = stem.indexOf("-", hyphen + 1)) {
    if (normalizedName(stem.slice(0, hyphen)) === project) return nonEmpty(stem.slice(hyphen + 1));
  }
  return undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
