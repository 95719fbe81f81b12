import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import type { KnownArtifact } from "./recount-line.js";

/** Makes an organization that the caller owns; answers its name. */
export async function makeOrganization(api: ApiClient, name: string): Promise<string> {
  await api.post("/v1/organizations", {
    name,
    description: "For a test",
    billingEmail: `${name}@example.org`,
  });
  return name;
}

/** Makes a package of an organization, with the fields that its type needs. */
export async function makePackage(
  api: ApiClient,
  { organization, name, libraryType }: { organization: string; name: string; libraryType: LibraryType },
): Promise<KnownArtifact> {
  const body = { name, libraryType, shortDescription: "For a test", ...TYPE_FIELDS[libraryType] };
  const made = await api.post<PackageV1>(`/v1/organizations/${organization}/packages`, body);
  return { kind: "package", id: made.uuid, libraryType };
}

/** The fields that a package of each type needs. */
export const TYPE_FIELDS: Record<LibraryType, Record<string, string>> = {
  docker: { backendUrl: "https://registry.example.org/team/image" },
  npm: {},
  hackage: {},
  pypi: { repositoryURL: "https://pypi.org/simple/" },
  other: {},
};

export async function makePixel(
  api: ApiClient,
  { owner, name }: { owner: string; name: string },
): Promise<KnownArtifact> {
  const made = await api.post<PixelRecord>(`/v2/pixels/${owner}`, { name });
  return { kind: "pixel", id: made.id, libraryType: "" };
}
