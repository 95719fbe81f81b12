/** The forms of a page of a Python index. */
export type IndexForm = keyof typeof INDEX_TYPES;

/** PEP 691, "Content Types". */
export const INDEX_TYPES = {
  text: "text/html",
  html: "application/vnd.pypi.simple.v1+html",
  json: "application/vnd.pypi.simple.v1+json",
} as const;

/**
 * The form that an `Accept` header prefers (RFC 9110, 12.5.1). Plain HTML wins among equals and when none is accepted:
 * PEP 691 leaves this to the server, and older clients send headers that they do not mean.
 */
export function chooseIndexForm(accept: string | undefined): IndexForm {
  const ranges = (accept ?? "").split(",").slice(0, RANGES_MAX).map(parseRange);
  let best: { form: IndexForm; quality: number } = { form: "text", quality: 0 };
  for (const [form, names] of FORMS) {
    const quality = qualityOf(names, ranges);
    if (quality > best.quality) best = { form, quality };
  }
  return best.form;
}

const RANGES_MAX = 50;

/** In order of preference among equals, each with its media types. */
const FORMS: readonly [IndexForm, readonly string[]][] = [
  ["text", [INDEX_TYPES.text]],
  ["json", [INDEX_TYPES.json, "application/vnd.pypi.simple.latest+json"]],
  ["html", [INDEX_TYPES.html, "application/vnd.pypi.simple.latest+html"]],
];

interface MediaRange {
  type: string;
  quality: number;
}

function parseRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { type, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0 };
}

/** The most specific matching range decides, not the one with the highest weight. */
function qualityOf(names: readonly string[], ranges: readonly MediaRange[]): number {
  const group = names[0]?.replace(/\/.*/, "/*") ?? "";
  for (const exact of [names, [group], ["*/*"]]) {
    const named = ranges.filter(({ type }) => exact.includes(type));
    if (named.length > 0) return Math.max(...named.map(({ quality }) => quality));
  }
  return 0;
}
