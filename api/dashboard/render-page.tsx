import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { Layout } from "./layout.js";
import { VisitContext, type Section, type Visit } from "./page.js";

export interface Rendered {
  title: string;
  section?: Section | undefined;
  notice?: string | undefined;
  content: ComponentChildren;
}

/** Answers with a page of HTML in the dashboard's layout, under a policy that allows only the service's own files. */
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
