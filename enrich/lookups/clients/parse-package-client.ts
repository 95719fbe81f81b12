import { parseInstaller, parseIrregular } from "./parse-installer.js";
import { parsePythonClient } from "./parse-python-client.js";
import type { ClientDetails } from "./parse-python-client.js";

/** A package client or download tool, a browser, or the fetcher of an operating system. */
export type PackageClient =
  | { kind: "installer"; details: ClientDetails }
  | { kind: "browser" }
  /** The fetcher of an operating system's own ports or packages. */
  | { kind: "os"; name: string; version: string; platform: string };

/** Longer user agents are cut: no client sends as much, and the work stays bounded. */
export const USER_AGENT_LENGTH_MAX = 2048;

/**
 * Recognises package clients and download tools. Pure; never throws; the same string gives equal answers.
 * The forms of Python's installers, and the fields taken from them, follow PyPI's own statistics
 * (https://github.com/pypi/linehaul-cloud-function).
 */
export function parsePackageClient(userAgent: string): PackageClient | undefined {
  const text = userAgent.slice(0, USER_AGENT_LENGTH_MAX).trim();
  const python = parsePythonClient(text);
  if (python !== undefined) return { kind: "installer", details: python };
  for (const { pattern, name, platform } of OS_FETCHERS) {
    const found = pattern.exec(text);
    if (found !== null) return { kind: "os", name, version: found[1] ?? "", platform };
  }
  if (BROWSER.test(text) && parseIrregular(text) === undefined) return { kind: "browser" };
  const details = NOTHING.test(text) ? undefined : parseInstaller(text);
  return details === undefined ? undefined : { kind: "installer", details };
}

/** How the user agents of browsers begin. */
export const BROWSER = /^(?:Mozilla|Opera|Safari)\b/i;

/** Without a letter, or a program's word for no value. */
const NOTHING = /^(?:[^A-Za-z]*|\W*(?:null|none|nil|undefined|unknown|n\/a)\W*)$/i;

const OS_FETCHERS: readonly { pattern: RegExp; name: string; platform: string }[] = [
  { pattern: /^(?:fetch )?libfetch\//, name: "libfetch", platform: "FreeBSD" },
  { pattern: /^OpenBSD ftp/, name: "ftp", platform: "OpenBSD" },
  { pattern: /^NetBSD-ftp\/(\d\w{0,31})/, name: "ftp", platform: "NetBSD" },
  { pattern: /^MacPorts\/(\d[\w.-]{0,31})/, name: "macports", platform: "macOS" },
  { pattern: /^(?:slapt-get|slackrepo)/, name: "slackware", platform: "Linux" },
  { pattern: /^xbps\/(\d[\w.-]{0,31})/, name: "xbps", platform: "Linux" },
  { pattern: /^PTXdist/, name: "ptxdist", platform: "Linux" },
  { pattern: /^GARstow\/(\d[\w.-]{0,31})?/, name: "garstow", platform: "" },
  { pattern: /^pypi-install\/(\d[\w.-]{0,31})?/, name: "pypi-install", platform: "Linux" },
];
