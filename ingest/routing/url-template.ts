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

/** Why a text is no template, as a sentence that finishes "<field> ...". */
export interface TemplateFault {
  fault: string;
}

/** Decodes a template; what only higher levels know is a fault. */
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

/** The names of a template's variables, in the order in which they stand; one that stands twice is there twice. */
export function variablesOf({ parts }: UrlTemplate): string[] {
  return parts.flatMap((part) => ("variable" in part ? [part.variable] : []));
}

/** Expands as RFC 6570 says (3.2.2 and 3.2.3); a variable without a value leaves nothing. */
export function expandTemplate({ parts }: UrlTemplate, values: ReadonlyMap<string, string>): string {
  return parts.map((part) => expandPart(part, values)).join("");
}

function expandPart(part: TemplatePart, values: ReadonlyMap<string, string>): string {
  if ("literal" in part) return encodeReserved(part.literal);
  const value = values.get(part.variable) ?? "";
  return part.reserved ? encodeReserved(value) : encodeUnreserved(value);
}

/** Leaves unreserved characters only. */
function encodeUnreserved(text: string): string {
  if (/^[A-Za-z0-9\-._~]*$/.test(text)) return text;
  return encodeURIComponent(wellFormed(text)).replace(/[!'()*]/g, escapeByte);
}

/** Leaves reserved characters and what is percent-encoded already. */
function encodeReserved(text: string): string {
  if (/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]*$/.test(text)) return text;
  return wellFormed(text).replace(/%[0-9A-Fa-f]{2}|[^]/gu, (each) =>
    each.length === 3 || /[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/.test(each) ? each : encodeURIComponent(each),
  );
}

/** What cannot be written in UTF-8 becomes the replacement character. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** RFC 6570, 2.1; the apostrophe is allowed, as its examples use it. */
function faultOfLiterals(parts: readonly TemplatePart[]): TemplateFault | undefined {
  const text = parts.map((part) => ("literal" in part ? part.literal : "")).join("/");
  if (/[{}]/.test(text)) return { fault: "has a { or } that belongs to no variable" };
  const wrong = /[\0-\x20"<>\\^`|\x7f-\x9f]|\p{Surrogate}/u.exec(text);
  if (wrong !== null) return { fault: `must not contain ${JSON.stringify(wrong[0])}` };
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return { fault: "has a % that begins no percent-encoding" };
  return undefined;
}
