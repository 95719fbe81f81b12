import { escapeByte, readableText } from "./decode-percent.js";

/** A URI template (RFC 6570) of levels 1 and 2: text, `{variable}` and `{+variable}`. */
export interface UrlTemplate {
  parts: readonly TemplatePart[];
}

export type TemplatePart = LiteralPart | VariablePart;

export interface LiteralPart {
  literal: string;
}

export interface VariablePart {
  variable: string;
  /** `{+variable}`: reserved characters, `/` among them, stand for themselves. */
  reserved: boolean;
}

/** Why a text is not a template, as the end of a sentence that starts with the field's name. */
export interface TemplateFault {
  fault: string;
}

/** Parses a template. Operators of higher levels are a fault. */
export function decodeTemplate(text: string): UrlTemplate | TemplateFault {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const { 0: whole, 1: inside = "", index } of text.matchAll(/\{([^{}]*)\}/g)) {
    if (index > end) parts.push({ literal: text.slice(end, index) });
    const name = inside.replace(/^\+/, "");
    if (!VARIABLE.test(name)) return { fault: `may contain {name} and {+name}, but not ${whole}` };
    parts.push({ variable: name, reserved: name !== inside });
    end = index + whole.length;
  }
  if (end < text.length) parts.push({ literal: text.slice(end) });
  return faultOfLiterals(parts) ?? { parts };
}

/** `varname` of RFC 6570, 2.3. */
const VARIABLE = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/;

/** The names of a template's variables in order. A repeated variable is repeated here. */
export function variablesOf({ parts }: UrlTemplate): string[] {
  return parts.flatMap((part) => ("variable" in part ? [part.variable] : []));
}

/** Expands as RFC 6570, 3.2.2 and 3.2.3, says. A variable without a value expands to nothing. */
export function expandTemplate({ parts }: UrlTemplate, values: ReadonlyMap<string, string>): string {
  return parts.map((part) => expandPart(part, values)).join("");
}

function expandPart(part: TemplatePart, values: ReadonlyMap<string, string>): string {
  if ("literal" in part) return encodeReserved(part.literal);
  const value = values.get(part.variable) ?? "";
  return part.reserved ? encodeReserved(value) : encodeUnreserved(value);
}

/** Encodes everything but unreserved characters. */
function encodeUnreserved(text: string): string {
  return text.replace(/[^A-Za-z0-9\-._~]/gu, encodeCharacter);
}

/** Encodes everything but unreserved and reserved characters and existing percent-encoding. */
function encodeReserved(text: string): string {
  if (/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]*$/.test(text)) return text;
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu, (each) =>
    each.length === 3 ? each : encodeCharacter(each),
  );
}

/** A lone surrogate that stands for a byte becomes that byte; UTF-8 cannot encode any other. */
function encodeCharacter(character: string): string {
  if (!/\p{Surrogate}/u.test(character))
    return encodeURIComponent(character).replace(/[!'()*]/g, (each) => escapeByte(each.charCodeAt(0)));
  const readable = readableText(character);
  return readable === character ? encodeURIComponent("\ufffd") : readable;
}

/** RFC 6570, 2.1. The apostrophe is allowed, because the examples there use it. */
function faultOfLiterals(parts: readonly TemplatePart[]): TemplateFault | undefined {
  const text = parts.map((part) => ("literal" in part ? part.literal : "")).join("/");
  if (/[{}]/.test(text)) return { fault: "has a { or } that belongs to no variable" };
  const wrong = /[\0-\x20"<>\\^`|\x7f-\x9f]|\p{Surrogate}/u.exec(text);
  if (wrong !== null) return { fault: `must not contain ${JSON.stringify(wrong[0])}` };
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return { fault: "has a % that begins no percent-encoding" };
  return undefined;
}
