/** Query parameters; an absent value leaves the parameter out, a list repeats it. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A path with encoded segments: path`/o/${owner}/packages/${name}`. A name may contain `/`. */
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
