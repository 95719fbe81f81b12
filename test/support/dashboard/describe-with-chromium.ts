import { describeOrSkip } from "../describe-or-skip.js";
import { findChromium } from "./open-chromium.js";

const path = findChromium();

/** A suite in Chromium. Without one it is skipped; with CI=true it fails. */
export function describeWithChromium(name: string, suite: (path: string) => void): void {
  const missing =
    path === undefined ? "Needs Chromium on PATH or in CHROMIUM_PATH: apt-get install chromium." : undefined;
  describeOrSkip(name, { missing, ciRule: "With CI=true the browser suite must run." }, () =>
    suite(path ?? ""),
  );
}
