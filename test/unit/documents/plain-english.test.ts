import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../support/documents/pages.js";
import { PATTERNS } from "../../support/documents/plain-words.js";
import { textsOf } from "../../support/documents/program-texts.js";
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
    ...wordsIn(piece.text),
  ]);
}

function wordsIn(text: string): string[] {
  return PATTERNS.flatMap(({ name, regexp, instead }) =>
    [...text.matchAll(regexp)].map(
      ({ index }) => `${name} (${instead}): ${text.slice(Math.max(0, index - 40), index + 60)}`,
    ),
  );
}

const excepted = (page: string, finding: string) =>
  EXCEPTIONS.some((each) => each.page === page && finding.includes(each.text));

describe.each(PAGES)("%s", (page) => {
  test("has short sentences, short paragraphs and plain words", () => {
    const findings = findingsOf(readFileSync(page, "utf8"));
    expect(findings.filter((finding) => !excepted(page, finding))).toEqual([]);
  });
});

test("the texts of the program have plain words", () => {
  const findings = sourcesOf("api", "aggregate", "deploy", "enrich", "ingest", "schemas").flatMap((path) =>
    textsOf(readFileSync(path, "utf8")).flatMap((text) =>
      wordsIn(text).map((finding) => `${path}: ${finding}`),
    ),
  );
  expect(findings).toEqual([]);
});

function sourcesOf(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => join(folder, path)),
  );
}

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

describe("the texts of a module", () => {
  test.each([
    ["a string", 'const x = "It was mended once.";', ["It was mended once."]],
    ["a template, without what is inserted", "`It has ${count(n)} old lines`", ["It has … old lines"]],
    ["text of a page", "<p>It was mended.</p>", ["It was mended."]],
    [
      "no comment, regular expression and SQL",
      '// was mended\nconst x = /"was mended"/; q("select a from b")',
      [],
    ],
    [
      "a URL that is no comment",
      '"See https://example.org for more."',
      ["See https://example.org for more."],
    ],
  ])("are %s", (_, source, texts) => {
    expect(textsOf(source)).toEqual(texts);
  });
});
