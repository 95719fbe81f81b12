/** `/v1/packages/:package` as OpenAPI writes it: `/v1/packages/{package}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}

/** The names of a path's parameters, in order. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

/** All paths of a route. The document describes the route under the first. */
export function wordedPaths({ path }: { path: string | readonly string[] }): readonly [string, ...string[]] {
  const [first, ...others] = typeof path === "string" ? [path] : path;
  if (first === undefined) throw new Error("a route has no path");
  return [first, ...others];
}
