/** Kinds of packages as people call them. */
export const TYPES = {
  docker: "Docker image",
  npm: "npm package",
  hackage: "Hackage package",
  pypi: "Python package",
  other: "Files",
} as const;
