import type { PublicPackage } from "./public-packages.js";

/**
 * The package that is meant among those of one name: the only public one. Where several are public the request has to
 * name the type; without it none is meant, because another answer would change when one of them is made public.
 */
export function choosePublic(
  found: readonly PublicPackage[],
  least: PublicPackage["public"],
): PublicPackage | undefined {
  const shown = found.filter((each) => least === "badge" || each.public === "page");
  return shown.length === 1 ? shown[0] : undefined;
}
