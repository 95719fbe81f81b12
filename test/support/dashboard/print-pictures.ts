/**
 * Writes the pictures of the README from a demo of its own, in light and in dark, and the labels that are on them, which
 * the browser suite compares with the page: `npm run pictures`. Afterwards reduce them to 256 colours, which halves
 * them: `pngquant --force --ext .png deploy/docs/package*.png`, say.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { findChromium, openChromium } from "./open-chromium.js";
import { PICTURE_LABELS, labelsOf } from "./picture-labels.js";

const FILES = { light: "deploy/docs/package.png", dark: "deploy/docs/package-dark.png" } as const;
const VIEWPORT = { width: 1280, height: 1000 };

const env = { ...process.env, PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
const demo = spawn("dist/deploy/main.js", ["demo"], { env, stdio: ["ignore", "pipe", "inherit"] });
try {
  await using browser = await openChromium(findChromium() ?? "chromium");
  await using window = await browser.open({ viewport: VIEWPORT });
  const { page } = window;
  await page.goto(await linkOf(demo.stdout));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "toolkit-server", exact: true }).first().click();
  await page.locator("svg.plot").first().waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: FILES[colorScheme] });
  }
  writeFileSync(PICTURE_LABELS, `${JSON.stringify(await labelsOf(page), null, 2)}\n`);
} finally {
  demo.kill("SIGINT");
}

async function linkOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output }))
    if (line.includes("/sign-in/link#")) return line.trim();
  throw new Error("The demo ended without a link.");
}
