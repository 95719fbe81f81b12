/** ClickHouse receives the ids in a URL. */
export const IMPORTS_PER_PAGE = 1_000;

/** Reads ids of imports, so many at a time, in their order. */
export async function* importPages(
  read: (page: { after: string | undefined; limit: number }) => Promise<string[]>,
): AsyncGenerator<string[]> {
  let after: string | undefined;
  do {
    const imports = await read({ after, limit: IMPORTS_PER_PAGE });
    if (imports.length > 0) yield imports;
    after = imports.length < IMPORTS_PER_PAGE ? undefined : imports.at(-1);
  } while (after !== undefined);
}
