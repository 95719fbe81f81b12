import { path, withQuery } from "./address.js";

interface Named {
  owner: string;
  name: string;
  /** Present if several packages of the owner have the name. */
  type?: string | undefined;
}

/** The absolute addresses of a package's badge and public page. */
export function publicAddresses(publicBase: string, { owner, name, type }: Named) {
  const badge = withQuery(`${publicBase}${path`/badge/${owner}/${name}.svg`}`, { type });
  const page = withQuery(`${publicBase}${path`/p/${owner}/${name}`}`, { type });
  return { badge, page };
}

/** A badge for a readme in each markup. With `page` the badge is a link to it. */
export function badgeSnippets({ badge, page }: { badge: string; page?: string | undefined }) {
  const image = `![downloads](${badge})`;
  const tag = `<img src="${badge.replaceAll("&", "&amp;")}" alt="downloads">`;
  const target = page?.replaceAll("&", "&amp;");
  const rest = [`.. image:: ${badge}`, ...(page ? [`   :target: ${page}`] : []), "   :alt: downloads"];
  return {
    Markdown: page === undefined ? image : `[${image}](${page})`,
    HTML: target === undefined ? tag : `<a href="${target}">${tag}</a>`,
    reStructuredText: rest.join("\n"),
  };
}
