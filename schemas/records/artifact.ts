/** The stored types of packages. A file package is `other`. */
export const LIBRARY_TYPES = ["docker", "npm", "hackage", "pypi", "other"] as const;
export type LibraryType = (typeof LIBRARY_TYPES)[number];

export type ArtifactKind = "package" | "pixel";

/** The target of an event. Pixels have no library type. */
export interface Artifact {
  kind: ArtifactKind;
  /** UUID, lower case. */
  id: string;
  ownerId: string;
  libraryType: LibraryType | "";
  /** Read for imports, whose lines may name it. */
  name?: string;
}
