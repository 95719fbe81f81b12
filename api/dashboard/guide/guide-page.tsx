import { posix } from "node:path";
import type { MarkedToken, Token } from "marked";
import { Problem } from "../../../schemas/problem.js";
import { page, useVisit } from "../../web/page.js";
import { CopyLine } from "../../web/parts/form.js";
import { PageHead } from "../../web/parts/panel.js";
import {
  GUIDE,
  GUIDE_NAMES,
  type GuideName,
  docsAddress,
  guideAddress,
  guideFile,
  guideTitle,
  isPage,
  linkOn,
  pictureOn,
  readGuide,
} from "../../web/guide-files.js";
import { Markdown, headingId } from "./markdown.js";
import { parseGuide } from "./parse-guide.js";
import { type Found, plainText, searchGuide } from "./search-guide.js";

interface GuidePage {
  name: string;
  path: string;
  text: string;
  /** Absent for a file to copy. */
  tokens?: Token[];
}

/** In place of a page: what was searched for. */
interface GuideSearch {
  searched: string;
  found: Found[];
}

const isSearch = (shown: GuidePage | GuideSearch): shown is GuideSearch => "searched" in shown;

/** The pages that ship with the program, for everybody. */
export const guidePage = page<GuidePage | GuideSearch>({
  root: "/docs",
  path: ["/guide", "/guide/:name"],
  isOpen: true,
  load({ ctx, query }) {
    const { name = "readme" } = ctx["params"] as { name?: string };
    const searched = (query.get("q") ?? "").trim().slice(0, SEARCH_MAX);
    if (name === "readme" && searched !== "") return { searched, found: searchGuide(searched) };
    const path = guideFile(name);
    if (path === undefined) throw new Problem("not-found", "The guide has no page with this name.");
    return { name, path, text: readGuide(path), ...(path.endsWith(".md") && { tokens: parseGuide(path) }) };
  },
  title: (shown) => {
    if (isSearch(shown)) return `${shown.searched} · Search the guide`;
    return isPage(shown.name) ? guideTitle(shown.name) : shown.name;
  },
  render: (shown) => (
    <div class="guide">
      <article>
        <a class="to-pages" href={`#${PAGES_ID}`}>
          All pages of the guide
        </a>
        {isSearch(shown) ? <Results {...shown} /> : <Article {...shown} />}
      </article>
      {!isSearch(shown) && shown.tokens !== undefined && <Contents tokens={shown.tokens} />}
      <PageList
        current={isSearch(shown) ? "" : shown.name}
        searched={isSearch(shown) ? shown.searched : undefined}
      />
    </div>
  ),
});

const SEARCH_MAX = 100;
/** No heading of a page has this id. */
const PAGES_ID = "guide.pages";

function Article({ name, path, text, tokens }: GuidePage) {
  const visit = useVisit();
  if (tokens !== undefined)
    return (
      <>
        <Markdown tokens={tokens} addressOf={linkOn(visit, path)} pictureOf={pictureOn(visit, path)} />
        {isPage(name) && <Neighbours name={name} />}
      </>
    );
  return (
    <>
      <PageHead title={posix.basename(path)} />
      <CopyLine label={posix.basename(path)} text={text} />
    </>
  );
}

/** The pages before and after this one in the list. */
function Neighbours({ name }: { name: GuideName }) {
  const visit = useVisit();
  const at = GUIDE_NAMES.indexOf(name);
  const [previous, next] = [GUIDE_NAMES[at - 1], GUIDE_NAMES[at + 1]];
  return (
    <nav class="neighbours" aria-label="Previous and next page">
      {previous !== undefined && (
        <a rel="prev" href={guideAddress(visit, previous)}>
          <small>Previous</small> {guideTitle(previous)}
        </a>
      )}
      {next !== undefined && (
        <a rel="next" href={guideAddress(visit, next)}>
          <small>Next</small> {guideTitle(next)}
        </a>
      )}
    </nav>
  );
}

/** The sections of a page, at its right in wide windows. */
function Contents({ tokens }: { tokens: readonly Token[] }) {
  const headings = (tokens as MarkedToken[]).flatMap((token) =>
    token.type === "heading" && (token.depth === 2 || token.depth === 3) ? [token] : [],
  );
  if (headings.length < 2) return null;
  return (
    <nav class="contents" aria-label="On this page">
      <h2>On this page</h2>
      <ul>
        {headings.map((heading) => (
          <li class={heading.depth === 3 ? "inner" : undefined}>
            <a href={`#${headingId(heading.text)}`}>{plainText([heading])}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Results({ searched, found }: GuideSearch) {
  const visit = useVisit();
  return (
    <>
      <PageHead title={`Results for “${searched}”`} />
      {found.length === 0 && <p>No page contains all of these words. Try fewer or shorter words.</p>}
      <ul class="found">
        {found.map(({ name, title, heading, excerpt }) => (
          <li>
            <a href={guideAddress(visit, name, heading?.id)}>
              {title}
              {heading !== undefined && ` › ${heading.text}`}
            </a>
            <p class="soft">{excerpt.map((part, index) => (index % 2 === 1 ? <mark>{part}</mark> : part))}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

interface PageListProps {
  current: string;
  searched: string | undefined;
}

/** One part is open, the one of the page, so that the whole list is in sight. */
function PageList({ current, searched }: PageListProps) {
  const visit = useVisit();
  return (
    <nav id={PAGES_ID} class="pages" aria-label="Guide">
      <form method="get" action={guideAddress(visit)} role="search" aria-label="Guide">
        <input
          type="search"
          name="q"
          aria-label="Search the guide"
          placeholder="Search the guide"
          maxLength={SEARCH_MAX}
          value={searched}
          data-search
        />
      </form>
      {GUIDE.map(({ title, names }) => (
        <details open={names.some((name) => name === (current === "" ? "readme" : current))}>
          <summary>{title}</summary>
          <ul>
            {names.map((name) => (
              <li>
                <a href={guideAddress(visit, name)} aria-current={name === current ? "page" : undefined}>
                  {guideTitle(name)}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
      <a href={docsAddress(visit)}>API operations</a>
    </nav>
  );
}
