import { parseDocument } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { composeMessage } from "../../../../../api/features/notifications/compose-message.js";
import { chatBody } from "../../../../../api/features/notifications/formats/chat-bodies.js";
import { messageHtml } from "../../../../../api/features/notifications/formats/message-html.js";
import { messageText } from "../../../../../api/features/notifications/formats/message-text.js";
import { HOSTILE, digestOf } from "../../../../support/notifications/hostile-data.js";

const messageOf = (text: string, owner = "acme") =>
  composeMessage({
    event: "weekly-digest",
    data: digestOf(text),
    owner,
    base: "https://stats.acme.example/x",
  });
const UNSUBSCRIBE = "https://stats.acme.example/x/unsubscribe/1?token=t";
const PLAIN = messageOf("plain");

describe.each(HOSTILE.map((text) => [text.slice(0, 40), text] as const))("a name like %j", (_, text) => {
  const message = messageOf(text);

  test("makes no line and no order of its own in a message's text", () => {
    const lines = messageText(message).split("\n");
    expect(message.subject).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(message.subject.length).toBeLessThan(140);
    expect(lines.filter((line) => /^(#|>|Bcc)/.test(line))).toEqual([]);
    expect(message.subject.startsWith('Maintainer Toolchain: "')).toBe(true);
    // Wrapped lines aside, names change no count of lines.
    expect(Math.abs(lines.length - messageText(PLAIN).split("\n").length)).toBeLessThan(6);
  });

  test("cannot end the quotation marks around it, nor look like a link to mail programs", () => {
    for (const each of [message, messageOf("plain", text)]) {
      expect(each.subject.match(/"/g)).toHaveLength(2);
      for (const [, quotedName = ""] of each.subject.matchAll(/"(.*)"/g))
        expect([...quotedName].length).toBeLessThanOrEqual(60);
      const written = [messageText(each), messageHtml(each, UNSUBSCRIBE)].map((body) =>
        body.replaceAll(/https:\/\/stats\.acme\.example\/x\/\S*/g, "").replace(/<style>.*<\/style>/s, ""),
      );
      expect(written.join("\n")).not.toMatch(/:\/\/|evil\.example/);
    }
  });

  test("is text alone in a mail's HTML, which has the same elements as any other", () => {
    const elements = (html: string) => [...tagsOf(parseDocument(html))];
    expect(elements(messageHtml(message, UNSUBSCRIBE))).toEqual(elements(messageHtml(PLAIN, UNSUBSCRIBE)));
  });

  test("mentions nobody and links nowhere on Slack", () => {
    const { blocks, text: fallback } = chatBody("slack", message) as {
      text: string;
      blocks: { text: { type: string; text: string; verbatim: boolean } }[];
    };
    const [{ text: block } = { text: undefined }] = blocks;
    expect(block).toMatchObject({ type: "mrkdwn", verbatim: true });
    const written = block?.text ?? "";
    // The only one is our own link.
    expect(written.match(/</g)).toHaveLength(1);
    expect(written).toContain("<https://stats.acme.example/x/dashboard/o/acme?");
    expect(written.length).toBeLessThan(3_000);
    expect(written.match(/```/g)?.length).toBe((PLAINED.slack.match(/```/g) ?? []).length);
    expect(fallback).not.toMatch(/[<>]/);
  });

  test("mentions nobody and is no markup on Discord", () => {
    const body = chatBody("discord", message) as { content: string; allowed_mentions: { parse: string[] } };
    expect(body.allowed_mentions).toEqual({ parse: [] });
    expect(body.content.length).toBeLessThanOrEqual(2_000);
    expectMarkdown(body.content);
  });

  test("mentions nobody and is no markup on Mattermost", () => {
    const { text: written } = chatBody("mattermost", message) as { text: string };
    expect(written).not.toMatch(/@(everyone|channel|here)/);
    expectMarkdown(written);
  });

  test("is in a text run on Teams, which knows no markup", () => {
    const body = chatBody("teams", message) as {
      attachments: { content: { body: object[]; actions: object[] } }[];
    };
    const { body: blocks = [], actions = [] } = body.attachments[0]?.content ?? {};
    for (const block of blocks)
      expect(block).toMatchObject({ type: "RichTextBlock", inlines: [{ type: "TextRun" }] });
    expect(actions).toMatchObject([
      { url: expect.stringMatching(/^https:\/\/stats\.acme\.example\//) as string },
    ]);
  });
});

const PLAINED = {
  slack: (chatBody("slack", PLAIN) as { blocks: { text: { text: string } }[] }).blocks[0]?.text.text ?? "",
  discord: (chatBody("discord", PLAIN) as { content: string }).content,
};

/** Outside of code, no character of markup stands alone but for our own bold texts and our link. */
function expectMarkdown(written: string): void {
  const fences = written.match(/```/g) ?? [];
  expect(fences.length % 2).toBe(0);
  expect(fences.length).toBe((PLAINED.discord.match(/```/g) ?? []).length);
  const outside = written
    .replace(/```[^`]*```/g, "")
    .replace(/\[[^[\]]*\]\(<https:\/\/stats\.acme\.example[^<>]*>\)/, "")
    .replace(/^\*\*(.*)\*\*$/gm, "$1");
  expect(outside.replace(/\\[^\sA-Za-z0-9]/g, "")).not.toMatch(/[`*_~|[\]>#]|:\/\/|<(?!\u2060)/);
}

function* tagsOf(node: object): Generator<string> {
  const {
    name,
    children = [],
    attribs,
  } = node as {
    name?: string;
    children?: object[];
    attribs?: Record<string, string>;
  };
  if (name !== undefined) yield `${name} ${Object.keys(attribs ?? {}).join(" ")}`;
  for (const child of children) yield* tagsOf(child);
}

test("a mail loads nothing from anywhere", () => {
  const html = messageHtml(PLAIN, UNSUBSCRIBE);
  expect(html).not.toMatch(/<(img|link|script|iframe|video|object)|url\(|@import|src=/i);
  expect(
    html.match(/https?:[^"'<\s]*/g)?.every((url) => url.startsWith("https://stats.acme.example/x/")),
  ).toBe(true);
});
