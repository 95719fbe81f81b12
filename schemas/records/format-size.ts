const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

/** 12345678 as 11.8 MiB. Scripts of pages import this module: it imports nothing. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
