import type { ComponentChildren } from "preact";
import { CopyLine } from "../parts/form.js";
import { Table } from "../parts/table.js";
import { type Block, headingId } from "./parse-markdown.js";

interface MarkdownProps {
  blocks: readonly Block[];
  /** The address of a link's target, and of a picture's file; undefined for what is not served. */
  addressOf: (target: string) => string | undefined;
}

/** Text becomes nodes, which are escaped when they are written. */
export function Markdown({ blocks, addressOf }: MarkdownProps) {
  const inline = (text: string) => nodesOf(text, addressOf);
  return (
    <>
      {blocks.map((block) => {
        switch (block.kind) {
          case "heading":
            return <Heading {...block}>{inline(block.text)}</Heading>;
          case "code":
            return <CopyLine label={`Lines of ${block.language || "text"}`} text={block.text} />;
          case "table":
            return (
              <Table
                caption={plain(block.head.join(", "))}
                columns={block.head.map((name) => ({ name: plain(name) }))}
                rows={block.rows.map((cells) => cells.map(inline))}
              />
            );
          case "list":
            return <List {...block} addressOf={addressOf} />;
          case "paragraph":
            return <p>{inline(block.text)}</p>;
        }
      })}
    </>
  );
}

interface HeadingProps {
  level: number;
  text: string;
  children: ComponentChildren;
}

function Heading({ level, text, children }: HeadingProps) {
  const Tag = (["h1", "h2", "h3"] as const)[level - 1] ?? "h4";
  return <Tag id={headingId(text)}>{children}</Tag>;
}

/** An item of one paragraph is its text alone. */
function List({ start, items, addressOf }: ListBlock & Pick<MarkdownProps, "addressOf">) {
  const shown = items.map((blocks) => {
    const [first] = blocks;
    const isText = blocks.length === 1 && first?.kind === "paragraph";
    return (
      <li>{isText ? nodesOf(first.text, addressOf) : <Markdown blocks={blocks} addressOf={addressOf} />}</li>
    );
  });
  return start === undefined ? <ul>{shown}</ul> : <ol start={start}>{shown}</ol>;
}

type ListBlock = Extract<Block, { kind: "list" }>;

const INLINE = new RegExp(
  [
    /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
    /!\[(?<alt>[^\]]*)\]\((?<image>[^)\s]+)\)/,
    /\[(?<label>(?:`[^`]*`|[^\]`])+)\]\((?<target>[^)\s]+)\)/,
    /<(?<url>https?:[^>\s]+)>/,
    /\*\*(?<strong>(?:`[^`]*`|[^*`])+)\*\*/,
    /\*(?<em>[^\s*](?:`[^`]*`|[^*`])*)\*/,
    /\\(?<escaped>[^\w\s])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "s",
);

/** The text before the first mark, the mark, and what follows it. */
function nodesOf(text: string, addressOf: MarkdownProps["addressOf"]): ComponentChildren {
  const found = INLINE.exec(text);
  if (found === null) return text;
  const after = text.slice(found.index + found[0].length);
  return (
    <>
      {text.slice(0, found.index)}
      {nodeOf(found.groups ?? {}, addressOf)}
      {nodesOf(after, addressOf)}
    </>
  );
}

type Found = Readonly<Record<string, string | undefined>>;

function nodeOf(found: Found, addressOf: MarkdownProps["addressOf"]): ComponentChildren {
  const { code, alt, image, label, target, url, strong, em, escaped } = found;
  if (code !== undefined) return <code>{code}</code>;
  if (image !== undefined) return <img src={addressOf(image) ?? ""} alt={alt ?? ""} loading="lazy" />;
  if (label !== undefined) return <Link to={addressOf(target ?? "")}>{nodesOf(label, addressOf)}</Link>;
  if (url !== undefined) return <a href={url}>{url}</a>;
  if (strong !== undefined) return <strong>{nodesOf(strong, addressOf)}</strong>;
  return em === undefined ? escaped : <em>{nodesOf(em, addressOf)}</em>;
}

/** A file of the repository that is not served is named, without a link. */
function Link({ to, children }: { to: string | undefined; children: ComponentChildren }) {
  return to === undefined ? <code>{children}</code> : <a href={to}>{children}</a>;
}

function plain(text: string): string {
  return text.replace(/[`*]/g, "");
}
