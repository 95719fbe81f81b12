/** Query parameters; an absent value leaves the parameter out, a list repeats it. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export function path(texts: TemplateStringsArray, ...segments: readonly string[]): string {
  return texts.reduce(
    (made, text, index) => `${made}${encodeURIComponent(segments[index - 1] ?? "")}${text}`,
  );
}

/** `/o/acme` with its query, without the `?` if there is none. */
export function withQuery(pathname: string, query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of value === undefined ? [] : [value].flat()) pairs.append(name, String(each));
  return pairs.size === 0 ? pathname : `${pathname}?${pairs.toString()}`;
}

/** The path of the service as browsers see it, without a slash at its end: empty, or the prefix behind a proxy. */
export function prefixOf(publicBase: string): string {
  return new URL(publicBase).pathname.replace(/\/$/, "");
}

/** The address of a page by its path below `/dashboard`. The only place that makes one. */
export function addressOf(publicBase: string, pathname: string, query?: Query): string {
  return withQuery(`${prefixOf(publicBase)}/dashboard${pathname}`, query);
}

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
