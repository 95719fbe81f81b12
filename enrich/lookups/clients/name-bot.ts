/**
 * What a robot calls itself and its version, from a user agent that is known to be a robot's: the first
 * product whose name says so, the product after `compatible;`, or the first product; else just "bot".
 */
export function nameBot(userAgent: string): { client: string; clientVersion: string } {
  for (const pattern of [NAMED, COMPATIBLE, FIRST]) {
    const found = pattern.exec(userAgent);
    if (found !== null) return { client: found[1]!, clientVersion: found[2] ?? "" };
  }
  return { client: "bot", clientVersion: "" };
}

const VERSION = String.raw`(?:[/ ]v?(\d[\w.]{0,31}))?`;
const NAMED = new RegExp(
  String.raw`(?<![\w./:-])((?:[A-Za-z][\w-]{0,30})?(?:bot|crawler|spider|slurp|headlesschrome)[\w-]{0,20})${VERSION}`,
  "i",
);
const COMPATIBLE = new RegExp(String.raw`compatible; ([A-Za-z][\w.-]{1,40})${VERSION}`);
const FIRST = new RegExp(String.raw`^(?!Mozilla/|Opera/)([A-Za-z][\w.-]{1,40})${VERSION}`);
