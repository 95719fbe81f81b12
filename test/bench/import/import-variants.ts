/** The lines of a measured import. */
export interface ImportVariant {
  /** 100: every line with an id overrides, because the same lines were imported before. */
  overridesPercent: number;
  /** With one package, the path names it; with several, each line does. */
  packages: number;
}

export function variantsOf({
  overrides,
  packages,
}: {
  overrides: readonly number[];
  packages: readonly number[];
}): ImportVariant[] {
  return packages.flatMap((count) =>
    overrides.map((overridesPercent) => ({ overridesPercent, packages: count })),
  );
}

export function nameOf({ overridesPercent, packages }: ImportVariant): string {
  return `${overridesPercent} % overrides, ${packages === 1 ? "1 package" : `${packages} packages`}`;
}
