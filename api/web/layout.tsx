import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import {
  VisitContext,
  type Section,
  type Visit,
  mayManage,
  useVisit,
  type Viewer,
  type VisitedOwner,
} from "./page.js";
import { SearchField } from "./parts/search-field.js";
import { path } from "./address.js";
import { docsAddress, guideAddress } from "./guide-files.js";

interface Rendered {
  title: string;
  section?: Section | undefined;
  notice?: string | undefined;
  /** For previews of links to a page that everybody may see. */
  description?: string | undefined;
  /** After them the browser asks again. */
  retrySeconds?: number | undefined;
  content: ComponentChildren;
}

/** The policy of the answer allows only the service's own files. */
export function renderPage(visit: Visit, { content, ...about }: Rendered): void {
  const { ctx } = visit;
  const html = renderToString(
    <VisitContext.Provider value={visit}>
      <Layout {...about}>{content}</Layout>
    </VisitContext.Provider>,
  );
  ctx.set("Content-Security-Policy", PAGE_POLICY);
  ctx.type = "text/html; charset=utf-8";
  ctx.body = Buffer.from(`<!doctype html>${html}`);
}

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

type LayoutProps = Omit<Rendered, "content"> & { children?: ComponentChildren };

function Layout({ title, section, notice, description, retrySeconds, children }: LayoutProps) {
  const visit = useVisit();
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Maintainer Toolchain`}</title>
        {description !== undefined && <Preview title={title} description={description} />}
        {retrySeconds !== undefined && <meta http-equiv="refresh" content={String(retrySeconds)} />}
        <link rel="icon" type="image/svg+xml" href={visit.asset("icon.svg")} />
        <link rel="stylesheet" href={visit.asset("dashboard.css")} />
        <script type="module" src={visit.asset("main.js")} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Top section={section} />
        <main id="main" tabIndex={-1}>
          {notice !== undefined && (
            <p class="notice" role="status">
              {notice}
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}

/** As https://ogp.me says, for chats that show links. */
function Preview({ title, description }: { title: string; description: string }) {
  const properties = { title, description, type: "website", site_name: "Maintainer Toolchain" };
  return (
    <>
      <meta name="description" content={description} />
      {Object.entries(properties).map(([name, content]) => (
        <meta property={`og:${name}`} content={content} />
      ))}
    </>
  );
}

function Top({ section }: { section: Section | undefined }) {
  const visit = useVisit();
  const { user: viewer, owner } = visit.known;
  return (
    <header class="top">
      <div class="bar">
        <a class="logo" href={visit.href("")} aria-label="Maintainer Toolchain">
          <Mark />
          <span class={viewer ? "name" : undefined}>Maintainer Toolchain</span>
        </a>
        {viewer && <OwnerSwitch viewer={viewer} owner={owner} />}
        <span class="spring" />
        {viewer ? <SearchField /> : <a href={guideAddress(visit)}>Guide</a>}
        {viewer && <AccountMenu viewer={viewer} section={section} />}
      </div>
      {viewer && owner && <Navigation owner={owner} section={section} />}
    </header>
  );
}

/** Three bars: the bundled icon, drawn in the accent colour. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="2" y="11" width="4" height="7" rx="1" />
      <rect x="8" y="6" width="4" height="12" rx="1" />
      <rect x="14" y="2" width="4" height="16" rx="1" />
    </svg>
  );
}

function OwnerSwitch({ viewer, owner }: { viewer: Viewer; owner: VisitedOwner | undefined }) {
  const { href } = useVisit();
  const names = [...viewer.organizations.map(({ name }) => name), viewer.username];
  return (
    <details class="menu" data-menu="owner">
      <summary>
        <span class="cut">{owner?.name ?? "Switch organization"}</span>
      </summary>
      <ul>
        {names.map((name) => (
          <li>
            <a href={href(path`/o/${name}`)} aria-current={name === owner?.name ? "true" : undefined}>
              <span class="cut">{name}</span>
              {name === viewer.username && <small>you</small>}
            </a>
          </li>
        ))}
        <li class="apart">
          <a href={`${href("/account")}#organizations`}>New organization</a>
        </li>
      </ul>
    </details>
  );
}

function AccountMenu({ viewer, section }: { viewer: Viewer; section: Section | undefined }) {
  const visit = useVisit();
  const { href } = visit;
  return (
    <details class="menu right" data-menu="account">
      <summary>
        <span class="cut">{viewer.username}</span>
      </summary>
      <ul>
        <li>
          <a href={href("/account")} aria-current={section === "account" ? "page" : undefined}>
            Account
          </a>
        </li>
        <li>
          <a href={guideAddress(visit)}>Guide</a>
        </li>
        <li>
          <a href={docsAddress(visit)}>API reference</a>
        </li>
        <li class="apart">
          <form method="post" action={href("/sign-out")}>
            <button type="submit" class="plain">
              Sign out
            </button>
          </form>
        </li>
      </ul>
    </details>
  );
}

interface Entry {
  section: Section;
  label: string;
  end: string;
  isFor: (owner: VisitedOwner) => boolean;
}

const hasRole = ({ role }: VisitedOwner) => role !== "none";

/** The pages of an owner. */
export const ENTRIES: readonly Entry[] = [
  { section: "overview", label: "Overview", end: "", isFor: () => true },
  { section: "live", label: "Live", end: "/live", isFor: () => true },
  { section: "companies", label: "Companies", end: "/companies", isFor: hasRole },
  { section: "imports", label: "Imports", end: "/imports", isFor: mayManage },
  { section: "webhooks", label: "Webhooks", end: "/webhooks", isFor: mayManage },
  { section: "settings", label: "Settings", end: "/settings", isFor: hasRole },
];

function Navigation({ owner, section }: { owner: VisitedOwner; section: Section | undefined }) {
  const { href } = useVisit();
  return (
    <nav class="bar tabs" aria-label={owner.name}>
      {ENTRIES.filter(({ isFor }) => isFor(owner)).map((entry) => (
        <a
          href={href(path`/o/${owner.name}` + entry.end)}
          aria-current={entry.section === section ? "page" : undefined}
        >
          {entry.label}
        </a>
      ))}
    </nav>
  );
}
