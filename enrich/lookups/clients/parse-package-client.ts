import { parseInstaller, parseIrregular } from "./parse-installer.js";
import { parsePythonClient } from "./parse-python-client.js";
import type { ClientDetails } from "./parse-python-client.js";

/** A package client or download tool, a browser, or the fetcher of an operating system. */
export type PackageClient =
  | { kind: "installer"; details: ClientDetails }
  | { kind: "browser" }
  /** The fetcher of an operating system's own ports or packages. */
  | { kind: "os"; name: string; platform: string };

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
  const fetcher = OS_FETCHERS.find(({ pattern }) => pattern.test(text));
  if (fetcher !== undefined) return { kind: "os", name: fetcher.name, platform: fetcher.platform };
  if (BROWSER.test(text) && parseIrregular(text) === undefined) return { kind: "browser" };
  const details = NOTHING.test(text) ? undefined : parseInstaller(text);
  return details === undefined ? undefined : { kind: "installer", details };
}

const BROWSER = /^(?:Mozilla|Opera|Safari)\b/i;

/** Without a letter, or a program's word for no value. */
const NOTHING = /^(?:[^A-Za-z]*|\W*(?:null|none|nil|undefined|unknown|n\/a)\W*)$/i;

const OS_FETCHERS: readonly { pattern: RegExp; name: string; platform: string }[] = [
  { pattern: /^(?:fetch )?libfetch\//, name: "libfetch", platform: "FreeBSD" },
  { pattern: /^OpenBSD ftp/, name: "ftp", platform: "OpenBSD" },
  { pattern: /^NetBSD-ftp\//, name: "ftp", platform: "NetBSD" },
  { pattern: /^MacPorts\//, name: "MacPorts", platform: "macOS" },
  { pattern: /^(?:slapt-get|slackrepo)/, name: "Slackware", platform: "Linux" },
  { pattern: /^xbps\//, name: "xbps", platform: "Linux" },
  { pattern: /^PTXdist/, name: "PTXdist", platform: "Linux" },
  { pattern: /^GARstow\//, name: "GARstow", platform: "" },
  { pattern: /^pypi-install\//, name: "pypi-install", platform: "Linux" },
];
