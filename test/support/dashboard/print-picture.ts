/**
 * Writes the picture of the README: the page of the first package of the demo. Run it beside `npm run demo`, with the
 * sign-in link that the demo prints:
 *
 *     npx tsx test/support/dashboard/print-picture.ts 'http://127.0.0.1:8080/dashboard/sign-in/link#key=...'
 *
 * Afterwards reduce it to 256 colours, which halves it: with pngquant, say.
 */
import { findChromium, openChromium } from "./open-chromium.js";

const FILE = "deploy/docs/package.png";
const VIEWPORT = { width: 1280, height: 1000 };

await using browser = await openChromium(findChromium() ?? "chromium");
await using window = await browser.open({ viewport: VIEWPORT, colorScheme: "light" });
const { page } = window;
await page.goto(process.argv[2] ?? "");
await page.getByRole("button", { name: "Sign in" }).click();
await page.getByRole("table", { name: "Packages" }).getByRole("link").first().click();
await page.locator("svg.plot").waitFor();
// The demo has 30 days: half of them can be compared with the other half.
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
await page.goto(`${page.url()}?startDate=${day(14)}&endDate=${day(0)}`);
await page.screenshot({ path: FILE });
