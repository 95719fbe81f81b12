import { posix } from "node:path";
import type { Token } from "marked";
import { Problem } from "../../../schemas/problem.js";
import { page, useVisit } from "../page.js";
import { CopyLine } from "../parts/form.js";
import { PageHead } from "../parts/panel.js";
import {
  GUIDE,
  docsAddress,
  guideAddress,
  guideFile,
  guideTitle,
  isPage,
  linkOn,
  readGuide,
} from "./guide-files.js";
import { Markdown, parseMarkdown } from "./markdown.js";

interface GuidePage {
  name: string;
  path: string;
  text: string;
  /** Absent for a file to copy. */
  tokens?: Token[];
}

/** The pages that ship with the program, for everybody. */
export const guidePage = page<GuidePage>({
  root: "/docs",
  path: ["/guide", "/guide/:name"],
  isOpen: true,
  load({ ctx }) {
    const { name = "readme" } = ctx["params"] as { name?: string };
    const path = guideFile(name);
    if (path === undefined) throw new Problem("not-found", "The guide has no such page.");
    return { name, path, text: readGuide(path), ...(path.endsWith(".md") && { tokens: tokensOf(path) }) };
  },
  title: ({ name }) => (isPage(name) ? guideTitle(name) : name),
  render: (shown) => (
    <div class="guide">
      <article>
        <a class="to-pages" href="#pages">
          All pages of the guide
        </a>
        <Article {...shown} />
      </article>
      <PageList current={shown.name} />
    </div>
  ),
});

const parsed = new Map<string, Token[]>();

/** Pages are parsed once, as their files are read once. */
function tokensOf(path: string): Token[] {
  const tokens = parsed.get(path) ?? parseMarkdown(readGuide(path));
  parsed.set(path, tokens);
  return tokens;
}

function Article({ path, text, tokens }: GuidePage) {
  const visit = useVisit();
  if (tokens !== undefined) return <Markdown tokens={tokens} addressOf={linkOn(visit, path)} />;
  return (
    <>
      <PageHead title={posix.basename(path)} />
      <CopyLine label={posix.basename(path)} text={text} />
    </>
  );
}

function PageList({ current }: { current: string }) {
  const visit = useVisit();
  return (
    <nav id="pages" aria-label="Guide">
      {GUIDE.map(({ title, names }) => (
        <>
          <h2>{title}</h2>
          <ul>
            {names.map((name) => (
              <li>
                <a href={guideAddress(visit, name)} aria-current={name === current ? "page" : undefined}>
                  {guideTitle(name)}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
      <h2>Reference</h2>
      <ul>
        <li>
          <a href={docsAddress(visit)}>API</a>
        </li>
      </ul>
    </nav>
  );
}
