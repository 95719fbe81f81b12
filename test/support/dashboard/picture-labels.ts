import type { Page } from "playwright-core";

/** What the pictures of the README showed when they were taken. */
export const PICTURE_LABELS = "test/fixtures/picture-labels.json";

/** The headings of a package's page and the labels of its numbers: what an old picture would show differently. */
export async function labelsOf(page: Page): Promise<string[]> {
  const labels = await page.locator("nav a, main h2, .tile .label, .tile dt").allInnerTexts();
  return labels.map((label) => label.replaceAll(/\s+/g, " ").trim());
}
