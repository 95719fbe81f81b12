/** The named colours of shields.io (badge-maker, `lib/color.js`). */
const NAMED: Readonly<Record<string, string>> = {
  brightgreen: "#4c1",
  green: "#97ca00",
  yellowgreen: "#a4a61d",
  yellow: "#dfb317",
  orange: "#fe7d37",
  red: "#e05d44",
  blue: "#007ec6",
  grey: "#555",
  gray: "#555",
  lightgrey: "#9f9f9f",
  lightgray: "#9f9f9f",
  success: "#4c1",
  important: "#fe7d37",
  critical: "#e05d44",
  informational: "#007ec6",
  inactive: "#9f9f9f",
};

export const COLOR_NAMES = Object.keys(NAMED);

/** `#rrggbb` of a name or of three or six hexadecimal digits, with `#` or without. Undefined if it is neither. */
export function badgeColor(text: string): string | undefined {
  const hex = Object.hasOwn(NAMED, text) ? NAMED[text] : text.toLowerCase();
  const [, digits] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/.exec(hex ?? "") ?? [];
  if (digits === undefined) return undefined;
  return `#${digits.length === 6 ? digits : [...digits].map((digit) => digit + digit).join("")}`;
}

/** Whether text on it has to be dark: by the brightness that W3C's AERT 2.2 gives a colour. */
export function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return (red * 299 + green * 587 + blue * 114) / 255_000 > 0.69;
}
