/** The widths of Verdana's characters, in thousandths of the font's size: U+0020 to U+007E in order. */
const ASCII = [
  352, 394, 459, 818, 636, 1076, 727, 269, 454, 454, 636, 818, 364, 454, 364, 454, 636, 636, 636, 636, 636,
  636, 636, 636, 636, 636, 454, 454, 818, 818, 818, 545, 1000, 684, 686, 698, 771, 632, 575, 775, 751, 421,
  455, 693, 557, 843, 748, 787, 603, 787, 695, 684, 616, 732, 684, 989, 685, 615, 685, 454, 454, 454, 818,
  636, 636, 601, 623, 521, 623, 596, 352, 623, 633, 274, 344, 592, 274, 973, 633, 607, 623, 623, 427, 521,
  394, 633, 592, 818, 592, 592, 525, 635, 454, 635, 818,
] as const;

const OTHER = 700;
const WIDE = 1000;
/** Chinese, Japanese and Korean characters, and pictures. */
const IS_WIDE =
  /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]|\p{Extended_Pictographic}/u;

/** About how wide a text is in Verdana of this size, in the same unit. */
export function textWidth(text: string, size: number): number {
  let thousandths = 0;
  for (const character of text) thousandths += widthOf(character);
  return (thousandths * size) / 1000;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x7f) return ASCII[code - 0x20] ?? 0;
  if (/\p{M}/u.test(character)) return 0;
  return IS_WIDE.test(character) ? WIDE : OTHER;
}
