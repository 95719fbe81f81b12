const NAMES = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });

/** The English name of an ISO 3166-1 alpha-2 code; the text itself if it is none. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (NAMES.of(code) ?? code) : code;
}
