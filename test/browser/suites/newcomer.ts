import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { NewWorld } from "../../support/dashboard/dashboard-world.js";
import { bodyOf, knownLines } from "../../support/dashboard/known-lines.js";
import { readTiles } from "../../support/dashboard/read-page.js";

const LINES = 500;
const PRINTED = /http:\/\/\S+\/sign-in\/link#key=[\w-]+/;

/** Has to run before there is an account. */
export function newcomerSuite(world: () => NewWorld): void {
  test("a newcomer comes from the printed link to the chart of a file by the clicks that the documentation lists", async () => {
    const { toolchain, browser } = world();
    await expect.poll(() => toolchain.log()).toMatch(PRINTED);
    await using window = await browser.open();
    const { page } = window;
    const actions = countActions(page);
    await page.goto(PRINTED.exec(toolchain.log())?.[0] ?? "");
    await actions.type("Username", "zoe");
    await actions.type("Email address", "zoe@example.org");
    await actions.click("button", /^Create account/);
    await actions.click("link", /^Access logs/);
    await actions.type("Name", "logs");
    await actions.click("button", /^Create/);
    await page.getByText("Drop a file here").waitFor();
    const body = bodyOf(knownLines({ count: LINES, seed: 4, days: 3, now: new Date() }));
    const file = { name: "events.ndjson", mimeType: "", buffer: Buffer.from(body) };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await page.getByText(`${LINES} events found in ${LINES} lines.`).waitFor();
    await actions.click("button", /^Import \d/);
    await page.getByRole("heading", { name: "Import into logs Done" }).waitFor();
    await actions.click("link", /^View statistics/);
    await page.locator("svg.plot").first().waitFor();
    expect(await readTiles(page)).toMatchObject({ Downloads: LINES });
    // Beside opening the link and choosing the file.
    expect(actions.counted).toEqual({ clicks: 5, fields: 3 });
  });
}

function countActions(page: Page) {
  const counted = { clicks: 0, fields: 0 };
  return {
    counted,
    async click(role: "button" | "link", name: RegExp) {
      counted.clicks += 1;
      await page.getByRole(role, { name }).click();
    },
    async type(label: string, text: string) {
      counted.fields += 1;
      await page.getByRole("textbox", { name: label }).fill(text);
    },
  };
}
