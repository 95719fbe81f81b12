import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../support/documents/pages.js";
import { PATTERNS } from "../../support/documents/plain-words.js";
import { proseOf, sentencesOf, wordsOf } from "../../support/documents/prose.js";
import { EXCEPTIONS } from "./plain-english-exceptions.js";

const WORDS_MAX = 35;
/** Four lines of a page. */
const PARAGRAPH_MAX = 4 * 130;

/** Each place of a page that is not plain, as `<rule>: <text>`. */
function findingsOf(page: string): string[] {
  return proseOf(page).flatMap((piece) => [
    ...sentencesOf(piece)
      .filter((sentence) => wordsOf(sentence) > WORDS_MAX)
      .map((sentence) => `${wordsOf(sentence)} words: ${sentence}`),
    ...(piece.kind === "paragraph" && piece.shown.length > PARAGRAPH_MAX
      ? [`${piece.shown.length} characters: ${piece.shown}`]
      : []),
    ...PATTERNS.flatMap(({ name, regexp, instead }) =>
      [...piece.text.matchAll(regexp)].map(
        ({ index }) => `${name} (${instead}): ${piece.text.slice(Math.max(0, index - 40), index + 60)}`,
      ),
    ),
  ]);
}

const excepted = (page: string, finding: string) =>
  EXCEPTIONS.some((each) => each.page === page && finding.includes(each.text));

describe.each(PAGES)("%s", (page) => {
  test("has short sentences, short paragraphs and plain words", () => {
    const findings = findingsOf(readFileSync(page, "utf8"));
    expect(findings.filter((finding) => !excepted(page, finding))).toEqual([]);
  });
});

test("every exception is needed and says why", () => {
  const idle = EXCEPTIONS.filter(
    ({ page, text }) => !findingsOf(readFileSync(page, "utf8")).some((finding) => finding.includes(text)),
  );
  expect(idle).toEqual([]);
  expect(EXCEPTIONS.filter(({ reason }) => reason.length < 10)).toEqual([]);
});

test("the list of words has at most 25 patterns", () => {
  expect(PATTERNS.length).toBeLessThanOrEqual(25);
  expect(PATTERNS.filter(({ regexp }) => !regexp.global)).toEqual([]);
});

describe("a page", () => {
  const long = `${"word ".repeat(36).trim()}.`;

  test.each([
    ["a long sentence", `${long}\n`, ["36 words"]],
    ["a long sentence in an item of a list", `- Short.\n- ${long}\n`, ["36 words"]],
    ["a long sentence in a cell", `| a |\n|---|\n| ${long} |\n`, ["36 words"]],
    ["a long paragraph", `${"Five words are in this. ".repeat(25)}\n`, ["599 characters"]],
    ["a word of the list", "The line was mended.\n", ["mend"]],
    ["an inverted sentence", "It works. Of these, two remain.\n", ["inverted beginning"]],
    ["names in backquotes, as one word and as no word", `\`mend ${long}\` is fine.\n`, []],
    ["blocks and comments", `<!-- mended -->\n\`\`\`sh\nmended ${long}\n\`\`\`\n`, []],
  ])("is searched for %s", (_, page, rules) => {
    expect(findingsOf(page).map((finding) => finding.split(/[:(]/)[0]?.trim())).toEqual(rules);
  });
});
