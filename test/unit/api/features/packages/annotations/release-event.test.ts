import { describe, expect, test } from "vitest";
import { readReleaseEvent } from "../../../../../../api/features/packages/annotations/release-event.js";

const RELEASE = {
  tag_name: "v1.5.0",
  name: "Faster",
  html_url: "https://github.com/Acme/tool/releases/tag/v1.5.0",
  published_at: "2026-11-02T09:00:00Z",
  draft: false,
};
const event = (release: object = {}, more: object = {}) => ({
  action: "published",
  release: { ...RELEASE, ...release },
  repository: { full_name: "Acme/tool" },
  ...more,
});

test("a published release is a note of its day, named alike wherever it is told", () => {
  expect(readReleaseEvent(event())).toEqual({
    date: "2026-11-02",
    text: "Faster",
    url: RELEASE.html_url,
    key: "github acme/tool v1.5.0",
  });
});

describe("its text is one line, and its address one of the web", () => {
  test.each([
    [{ name: null }, { text: "v1.5.0" }],
    [{ name: " \u2028 \n" }, { text: "v1.5.0" }],
    [{ name: "one\r\ntwo\ud800" }, { text: "one two" }],
    [{ name: "x".repeat(900) }, { text: "x".repeat(200) }],
    [{ html_url: "javascript:alert(1)" }, { url: undefined }],
    [{ html_url: `https://github.com/${"x".repeat(3_000)}` }, { url: undefined }],
    [{ html_url: "https://user:pass@example.org/" }, { url: undefined }],
  ])("%j", (release, expected) => {
    expect(readReleaseEvent(event(release))).toMatchObject(expected);
  });
});

test.each([
  ["another action", event({}, { action: "edited" })],
  ["a draft", event({ draft: true })],
  ["no date", event({ published_at: null })],
  ["a month that there is not", event({ published_at: "2026-13-01T00:00:00Z" })],
  ["a day that there is not", event({ published_at: "2026-02-30T00:00:00Z" })],
  ["a ping", { zen: "Keep it simple", hook_id: 1 }],
  ["no object", "release"],
])("%s adds nothing", (_, sent) => {
  expect(readReleaseEvent(sent)).toBeUndefined();
});
