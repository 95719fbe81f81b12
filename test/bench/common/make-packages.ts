import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

/** Makes a file package of the caller and answers its id. */
export async function makePackage(api: ApiClient, name: string): Promise<string> {
  const made = { name, shortDescription: "Made by the benchmark", libraryType: "other" };
  return (await api.post<PackageV1>("/v1/packages", made)).uuid;
}

/** The same for several, whose names end with their numbers. */
export async function makePackages(
  api: ApiClient,
  { name, count }: { name: string; count: number },
): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) ids.push(await makePackage(api, `${name}-${number}`));
  return ids;
}
