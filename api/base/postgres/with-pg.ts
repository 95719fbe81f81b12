/** For settlement, erasure and enrichment, which know no PostgreSQL. */
export function withPg<Pg, Functions extends Record<string, (pg: Pg, ...rest: never[]) => unknown>>(
  pg: Pg,
  functions: Functions,
): WithPg<Functions> {
  const bound = Object.entries(functions).map(([name, run]) => [name, run.bind(undefined, pg)]);
  return Object.fromEntries(bound) as WithPg<Functions>;
}

type WithPg<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (pg: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};
