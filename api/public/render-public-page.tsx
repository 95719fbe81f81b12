import type { Visit } from "../dashboard/page.js";
import { renderPage } from "../dashboard/render-page.js";
import { PublicContent, type PublicContentProps } from "./public-content.js";

/** Answers with the page of a public package. */
export function renderPublicPage(visit: Visit, props: PublicContentProps): void {
  const { name, owner } = props.found;
  renderPage(visit, { title: `${name} by ${owner}`, content: <PublicContent {...props} /> });
}
