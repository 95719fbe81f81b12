import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { CopyLine } from "../../web/parts/form.js";
import { Table } from "../../web/parts/table.js";
import type { ShownPicture } from "../../web/guide-files.js";

interface MarkdownProps {
  tokens: readonly Token[];
  /** The address of a link's target; undefined for what is not served. */
  addressOf: (target: string) => string | undefined;
  /** The picture of a file; undefined for what is not served. */
  pictureOf: (target: string) => ShownPicture | undefined;
}

/** Parses GitHub's Markdown into the tokens of `Markdown`. */
export function parseMarkdown(text: string): Token[] {
  return lexer(text);
}

/** The name of a heading in addresses, as GitHub makes it. */
export function headingId(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** Text becomes nodes, which are escaped when they are written. HTML and comments are left out. */
export function Markdown({ tokens, ...files }: MarkdownProps) {
  const shown = (inner: readonly Token[] = []) => <Markdown tokens={inner} {...files} />;
  return <>{tokens.map((token) => nodeOf(token as MarkedToken, { ...files, shown }))}</>;
}

interface Shown extends Omit<MarkdownProps, "tokens"> {
  shown: (tokens?: readonly Token[]) => ComponentChildren;
}

function nodeOf(token: MarkedToken, { addressOf, pictureOf, shown }: Shown): ComponentChildren {
  switch (token.type) {
    case "heading":
      return <Heading {...token}>{shown(token.tokens)}</Heading>;
    case "paragraph":
      return <p>{shown(token.tokens)}</p>;
    case "code":
      return <CopyLine label={`Code (${token.lang || "text"})`} text={token.text} />;
    case "list":
      return (
        <List {...token}>
          {token.items.map((item) => (
            <li>{shown(item.tokens)}</li>
          ))}
        </List>
      );
    case "table":
      return (
        <Table
          caption={token.header.map(wordsOf).join(", ")}
          columns={token.header.map((cell) => wordsOf(cell))}
          rows={token.rows.map((cells) => cells.map(({ tokens }) => shown(tokens)))}
        />
      );
    case "text":
      return token.tokens === undefined ? token.text : shown(token.tokens);
    case "escape":
      return token.text;
    case "codespan":
      return <code>{token.text}</code>;
    case "strong":
      return <strong>{shown(token.tokens)}</strong>;
    case "em":
      return <em>{shown(token.tokens)}</em>;
    case "link":
      return <Link to={addressOf(token.href)}>{shown(token.tokens)}</Link>;
    case "image":
      return <img {...pictureOf(token.href)} alt={token.text} loading="lazy" />;
    case "del":
      return <del>{shown(token.tokens)}</del>;
    case "blockquote":
      return <blockquote>{shown(token.tokens)}</blockquote>;
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    // Items stand in their list. The rest shows nothing.
    case "list_item":
    case "checkbox":
    case "def":
    case "space":
      return null;
    case "html":
      return pictureIn(token.text, pictureOf);
  }
}

/** `<picture>` of the README, which has one for dark pages as well: its image. Other HTML shows nothing. */
function pictureIn(html: string, pictureOf: Shown["pictureOf"]): ComponentChildren {
  const [, alt, path = ""] = /^<picture>[^]*<img alt="([^"<>]*)" src="([^"<>]*)">/.exec(html) ?? [];
  return alt === undefined ? null : <img {...pictureOf(path)} alt={alt} loading="lazy" />;
}

/** A section's heading is a link to it, to copy. */
function Heading({ depth, text, children }: Tokens.Heading & { children?: ComponentChildren }) {
  const Tag = (["h1", "h2", "h3"] as const)[depth - 1] ?? "h4";
  const id = headingId(text);
  return <Tag id={id}>{depth === 1 ? children : <a href={`#${id}`}>{children}</a>}</Tag>;
}

function List({ ordered, start, children }: Tokens.List & { children?: ComponentChildren }) {
  return ordered ? <ol start={Number(start)}>{children}</ol> : <ul>{children}</ul>;
}

/** A file of the repository that is not served is named, without a link. */
function Link({ to, children }: { to: string | undefined; children: ComponentChildren }) {
  return to === undefined ? <code>{children}</code> : <a href={to}>{children}</a>;
}

/** A cell's text, without its marks. */
function wordsOf({ text }: Tokens.TableCell): string {
  return text.replace(/[`*]/g, "");
}
