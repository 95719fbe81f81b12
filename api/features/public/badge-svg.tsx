import { renderToString } from "preact-render-to-string";
import { isLight, plainText, type Style } from "./parse-badge.js";

export interface BadgeFace {
  /** Empty: the badge has one part. */
  label: string;
  message: string;
  /** `#rrggbb`, of the message. */
  color: string;
  style: Style;
}

interface Shape {
  height: number;
  size: number;
  /** At each end of a part. */
  padding: number;
  /** From the top to the line that the text stands on. */
  base: number;
  radius: number;
  spacing: number;
}

const SHAPES: Record<Style, Shape> = {
  flat: { height: 20, size: 11, padding: 5, base: 14, radius: 3, spacing: 0 },
  "flat-square": { height: 20, size: 11, padding: 5, base: 14, radius: 0, spacing: 0 },
  "for-the-badge": { height: 28, size: 10, padding: 10, base: 18, radius: 0, spacing: 1.2 },
};
const LABEL_COLOR = "#555555";
const FONTS = "Verdana,Geneva,DejaVu Sans,sans-serif";

/**
 * In the look of shields.io. `textLength` fits each text into its part, whichever font the reader has. Well-formed XML,
 * whatever the texts are.
 */
export function badgeSvg(face: BadgeFace): string {
  const [label, message] = [plainText(face.label), plainText(face.message)];
  const { color, style } = face;
  const shape = SHAPES[style];
  const texts = style === "for-the-badge" ? [label.toUpperCase(), message.toUpperCase()] : [label, message];
  const [left, right] = texts.map((text) => partWidth(text, shape)) as [number, number];
  const width = left + right;
  const title = label === "" ? message : `${label}: ${message}`;
  const svg = renderToString(
    <svg xmlns="http://www.w3.org/2000/svg" width={width} height={shape.height} role="img" aria-label={title}>
      <title>{title}</title>
      <clipPath id="r">
        <rect width={width} height={shape.height} rx={shape.radius} />
      </clipPath>
      <g clip-path="url(#r)" shape-rendering="crispEdges">
        {left > 0 && <rect width={left} height={shape.height} fill={LABEL_COLOR} />}
        <rect x={left} width={right} height={shape.height} fill={color} />
      </g>
      <g text-anchor="middle" font-family={FONTS} font-size={shape.size}>
        {left > 0 && <Text at={0} width={left} {...{ shape, text: texts[0] ?? "", on: LABEL_COLOR }} />}
        <Text
          at={left}
          width={right}
          {...{ shape, text: texts[1] ?? "", on: color }}
          isBold={style === "for-the-badge"}
        />
      </g>
    </svg>,
  );
  // HTML may have this in a text, and the renderer writes HTML; XML may not.
  return svg.replaceAll("]]>", "]]&gt;");
}

/** Whole, so that the parts meet at a pixel. */
function partWidth(text: string, { size, padding, spacing }: Shape): number {
  if (text === "") return 0;
  return Math.round(textWidth(text, size) + [...text].length * spacing) + 2 * padding;
}

interface TextProps {
  text: string;
  at: number;
  width: number;
  shape: Shape;
  on: string;
  isBold?: boolean;
}

function Text({ text, at, width, shape, on, isBold }: TextProps) {
  return (
    <text
      x={at + width / 2}
      y={shape.base}
      fill={isLight(on) ? "#333333" : "#ffffff"}
      textLength={width - 2 * shape.padding}
      font-weight={isBold ? "bold" : undefined}
    >
      {text}
    </text>
  );
}

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
