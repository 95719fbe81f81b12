/**
 * Decodes text in the charset of a content type, such as `text/html; charset=iso-8859-1`: UTF-8 where it names none, or
 * none that the Encoding Standard knows.
 */
export function textDecoder(contentType: string | undefined): TextDecoder {
  return decoderOf(charsetIn(contentType)) ?? new TextDecoder();
}

export function charsetIn(contentType: string | undefined): string | undefined {
  const [, quoted, token] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType ?? "") ?? [];
  return quoted ?? token;
}

/** Undefined for a label that the Encoding Standard does not know. */
export function decoderOf(label: string | undefined): TextDecoder | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label);
  } catch {
    return undefined;
  }
}
