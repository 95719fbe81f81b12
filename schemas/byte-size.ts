const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const SIZE = /^(\d{1,16}) ?(|KiB|MiB|GiB|TiB)$/;

/**
 * Parses `1048576`, `512MiB` or `20 GiB` as bytes; undefined for any other text, for zero and for numbers beyond exact
 * integers.
 */
export function parseBytes(text: string): number | undefined {
  const [, digits = "", unit = ""] = SIZE.exec(text) ?? [];
  const bytes =
    Number(digits) *
    1024 **
      Math.max(
        0,
        UNITS.findIndex((each) => each === unit),
      );
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** In the largest unit that divides it: `20 GiB`, `1500 bytes`. */
export function formatBytes(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes > 0 && bytes % 1024 ** (power + 1) === 0) power++;
  return `${bytes / 1024 ** power} ${UNITS[power]}`;
}
