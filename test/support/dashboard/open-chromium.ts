import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Chromium, and what went wrong in any page that it opened. */
export interface TestBrowser extends AsyncDisposable {
  /** A window with cookies of its own. */
  open(options?: BrowserContextOptions): Promise<Window>;
  /** Violations of the policy, requests to other hosts, errors of scripts: none are expected. */
  readonly faults: readonly string[];
}

export interface Window extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
}

const WAIT_MS_MAX = 120_000;

/**
 * Loads two pages of its own into every new window, a second of processor time each. The rest is what Playwright turns
 * off (chromiumSwitches.ts): the last list that is given holds.
 */
const DISABLED_FEATURES = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/** The sandbox of Chromium does not work as root. Without a graphics card a process of its own for that is only slower. */
const FLAGS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--force-color-profile=srgb",
  "--in-process-gpu",
  "--disable-gpu",
  `--disable-features=${DISABLED_FEATURES.join(",")}`,
];

export async function openChromium(executablePath: string): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({ executablePath, args: FLAGS });
  const faults: string[] = [];
  return {
    faults,
    async open(options = {}) {
      const context = await browser.newContext({ reducedMotion: "reduce", ...options });
      context.setDefaultTimeout(WAIT_MS_MAX);
      await watch(context, faults);
      return {
        context,
        page: await context.newPage(),
        [Symbol.asyncDispose]: () => context.close(),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function watch(context: BrowserContext, faults: string[]): Promise<void> {
  await context.exposeBinding("reportViolation", (_, violation: string) => void faults.push(violation));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const report = (window as unknown as { reportViolation: (text: string) => void }).reportViolation;
      report(`${event.violatedDirective} on ${location.href}: ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on("request", (request) => {
    if (new URL(request.url()).hostname !== "127.0.0.1") faults.push(`request to ${request.url()}`);
  });
  context.on("weberror", (error) => faults.push(`error in a page: ${error.error().stack ?? ""}`));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
  });
}

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** CHROMIUM_PATH, or the first Chromium on PATH. */
export function findChromium(env = process.env): string | undefined {
  if (env["CHROMIUM_PATH"]) return env["CHROMIUM_PATH"];
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
