import { PLATFORMS } from "../../../schemas/contracts/platforms.js";

/** The operating system that a user agent names, or "". */
export function findPlatform(userAgent: string): string {
  // Docker sends two systems. The first is the engine's, which downloads; the client's is ignored.
  const tagged = /\bos\/([A-Za-z]{1,20})\b/.exec(userAgent)?.[1];
  const found = (tagged !== undefined && findName(tagged)) || findName(userAgent);
  if (found !== undefined) return found;
  return OTHERS.find(({ pattern }) => pattern.test(userAgent))?.name ?? "";
}

/** The platform of a request or a report that says it itself: the name of `PLATFORMS`, else the text as it is. */
export function namePlatform(text: string): string {
  return findName(text) ?? text;
}

/** Words are runs of letters, so that `win32` names Windows, and `x86_64-unknown-linux-musl` Linux. */
function findName(text: string): string | undefined {
  const words = new Set(text.match(/[A-Za-z]+/g)?.map((word) => word.toLowerCase()));
  return PLATFORMS.find((platform) => platform.words.some((word) => words.has(word)))?.name;
}

/** Systems that only whole phrases tell, or that are no platform of the list. */
const OTHERS: readonly { name: string; pattern: RegExp }[] = [
  { name: "macOS", pattern: /\bApple Git\b/ },
  { name: "Linux", pattern: /\bred hat\b/i },
  { name: "DragonFly", pattern: /\bDragonFly\b/ },
  { name: "Chrome OS", pattern: /\b(?:cros|chrome ?os|chromium os)\b/i },
];
