import type { NotificationChannel } from "../../../../schemas/contracts/notification.js";
import type { Message } from "../message.js";
import { chartRows } from "./message-text.js";

export type ChatChannel = Exclude<NotificationChannel, "email">;

/** The JSON that the incoming webhook of a chat takes. */
export function chatBody(channel: ChatChannel, message: Message): Record<string, unknown> {
  return BODIES[channel](message);
}

const BODIES: Record<ChatChannel, (message: Message) => Record<string, unknown>> = {
  slack: slackBody,
  discord: discordBody,
  mattermost: mattermostBody,
  teams: teamsBody,
};

/** What a chat takes for the beginning and the end of markup in texts of others. */
interface Markup {
  escape: (text: string) => string;
  bold: (escaped: string) => string;
  /** In a block of code only the end of the block means anything. */
  code: (text: string) => string;
  link: (escaped: string, url: string) => string;
  charactersMax: number;
}

function chatText({ subject, lines, tiles, charts, link, small }: Message, markup: Markup): string {
  const { escape, bold, code, charactersMax } = markup;
  const numbers = tiles.map(({ label, value, change }) =>
    [label, value, ...(change === undefined ? [] : [`(${change})`])].join(" "),
  );
  const linked = link === undefined ? [] : [markup.link(escape(link.label), link.url)];
  const end = [...linked, ...small.map(escape)].join("\n");
  const parts = [
    bold(escape(subject)),
    ...lines.map(escape),
    ...(numbers.length > 0 ? [escape(numbers.join(" · "))] : []),
    ...charts.map((chart) => `${bold(escape(chart.title))}\n${code(chartRows(chart).join("\n"))}`),
  ];
  // What does not fit any more is on the page that the link leads to.
  const fitting: string[] = [];
  let left = charactersMax - end.length;
  for (const part of parts) {
    left -= part.length + 1;
    if (left < 0) break;
    fitting.push(part);
  }
  return [...fitting, end].join("\n");
}

/** Without the characters that would end the block. */
const fenced = (text: string) => `\`\`\`\n${text.replaceAll("`", "'")}\n\`\`\``;

/** https://docs.slack.dev/messaging/formatting-message-text: these three begin mentions, links and entities. */
const escapeSlack = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The characters of Slack's own emphasis, put out of effect by a joiner of no width. */
const withoutEmphasis = (text: string) => text.replace(/[*_~`]/g, "\u2060$&\u2060");

function slackBody(message: Message): Record<string, unknown> {
  const text = chatText(message, {
    escape: (plain) => escapeSlack(withoutEmphasis(plain)),
    bold: (escaped) => `*${escaped}*`,
    code: (plain) => fenced(escapeSlack(plain)),
    link: (escaped, url) => `<${escapeSlack(url).replaceAll("|", "%7C")}|${escaped}>`,
    charactersMax: 2_900,
  });
  // `verbatim` keeps names that look like URLs or channels from becoming links.
  const block = { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
  const fallback = escapeSlack(withoutEmphasis(message.subject));
  return { text: fallback, blocks: [block], unfurl_links: false, unfurl_media: false };
}

/** What old and new Markdown lets a backslash escape. Joiners of no width break mentions and links. */
const escapeMarkdown = (text: string) =>
  text
    .replace(/[\\`*_{}[\]()#+\-.!|~>]/g, "\\$&")
    .replace(/[@<]/g, "$&\u2060")
    .replaceAll("://", ":\u2060//");

const MARKDOWN: Omit<Markup, "charactersMax"> = {
  escape: escapeMarkdown,
  bold: (escaped) => `**${escaped}**`,
  code: fenced,
  link: (escaped, url) => `[${escaped}](<${url}>)`,
};

const SUPPRESS_EMBEDS = 4;

function discordBody(message: Message): Record<string, unknown> {
  const content = chatText(message, { ...MARKDOWN, charactersMax: 1_950 });
  return { content, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS };
}

/** It reads Slack's mentions as well, in code too. */
function mattermostBody(message: Message): Record<string, unknown> {
  const code = (text: string) => fenced(text.replace(/[@<]/g, "$&\u2060"));
  return { text: chatText(message, { ...MARKDOWN, code, charactersMax: 3_900 }) };
}

/** An Adaptive Card. Its text blocks know Markdown, text runs do not: every text is one. */
function teamsBody({ subject, lines, tiles, charts, link, small }: Message): Record<string, unknown> {
  const run = (text: string, style: object = {}) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...style }],
  });
  const numbers = tiles.map(({ label, value, change = "" }) => `${label} ${value} ${change}`.trim());
  const body = [
    run(subject, { weight: "Bolder", size: "Large" }),
    ...lines.map((line) => run(line)),
    ...(numbers.length > 0 ? [run(numbers.join(" · "))] : []),
    ...charts.flatMap((chart) => [
      run(chart.title, { weight: "Bolder" }),
      ...chartRows(chart).map((row) => ({ ...run(row, { fontType: "Monospace" }), spacing: "None" })),
    ]),
    ...small.map((line) => run(line, { isSubtle: true, size: "Small" })),
  ];
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    msteams: { width: "Full" },
    body,
    actions: link === undefined ? [] : [{ type: "Action.OpenUrl", title: link.label, url: link.url }],
  };
  const attachment = {
    contentType: "application/vnd.microsoft.card.adaptive",
    contentUrl: null,
    content,
  };
  return { type: "message", attachments: [attachment] };
}
