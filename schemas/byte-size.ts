const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const SIZE = /^(\d{1,16}) ?(|KiB|MiB|GiB|TiB)$/;

/** `1048576`, `512MiB` or `20 GiB` as bytes; undefined for anything else, nothing, and what no number can hold. */
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

/** The largest unit of which it is a whole number: `20 GiB`, `1500 bytes`. */
export function formatBytes(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes > 0 && bytes % 1024 ** (power + 1) === 0) power++;
  return `${bytes / 1024 ** power} ${UNITS[power]}`;
}
