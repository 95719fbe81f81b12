import { whole } from "../common/format-numbers.js";

/** The lines of a measured import. */
export interface ImportVariant {
  /** 100: every line with an id overrides, because the same lines were imported before. */
  overridesPercent: number;
  /** With one package, the path names it; with several, each line does. */
  packages: number;
  /** Client addresses, all equally likely. */
  addresses: number;
}

/** As the clients of one large project in a month: nearly every line has one that no cache holds. */
export const MANY_ADDRESSES = 3_000_000;
/** The caches of enrichment hold these. */
export const FEW_ADDRESSES = 30_000;

/** Each with few addresses, and with as many as are asked for. */
export function variantsOf({
  overrides,
  packages,
  addresses = MANY_ADDRESSES,
}: {
  overrides: readonly number[];
  packages: readonly number[];
  addresses: number | undefined;
}): ImportVariant[] {
  return packages.flatMap((count) =>
    overrides.flatMap((overridesPercent) =>
      [...new Set([FEW_ADDRESSES, addresses])].map((drawn) => ({
        ...{ overridesPercent, packages: count, addresses: drawn },
      })),
    ),
  );
}

export function nameOf({ addresses, ...lines }: ImportVariant): string {
  return `${nameOfLines(lines)}, ${whole(addresses)} addresses`;
}

export function nameOfLines({ overridesPercent, packages }: Omit<ImportVariant, "addresses">): string {
  return `${overridesPercent} % overrides, ${packages === 1 ? "1 package" : `${packages} packages`}`;
}
