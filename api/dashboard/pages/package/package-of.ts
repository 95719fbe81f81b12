import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import type { PackageAccess } from "../../../../schemas/contracts/package-access.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import type { Visit } from "../../page.js";

/**
 * The package that `:package` in the path names, by its id or name, with the viewer's rights on it. Throws `not-found`
 * and `ambiguous-name`.
 */
export async function packageAccessOf({ api, owner, param }: Visit): Promise<PackageAccess> {
  const asked = param("package");
  try {
    return await api<PackageAccess>({ path: path`/v2/packages/${owner.name}/${asked}/access` });
  } catch (error) {
    const sentence = error instanceof Problem ? SENTENCES[error.code]?.(asked) : undefined;
    if (sentence === undefined) throw error;
    throw new Problem((error as Problem).code, sentence, { cause: error });
  }
}

/** The API's name parameters and operations, which a page has not. */
const SENTENCES: Readonly<Record<string, (name: string) => string>> = {
  "not-found": (name) => `There is no package ${name}.`,
  "ambiguous-name": (name) => `Several packages are named ${name}; open one from the overview.`,
};

export async function packageOf(visit: Visit): Promise<PackageV1> {
  return (await packageAccessOf(visit)).package;
}
