import type { CommandEntry } from "./create-program.js";

/** Speak to a running service over HTTP, and need nothing else: the package of the command alone has these. */
export const SERVICE_COMMANDS: readonly CommandEntry[] = [
  {
    name: "login",
    description: "Save the URL of a service and an API token for the other commands.",
    load: async () => (await import("./login.js")).loginCommand(),
  },
  {
    name: "logout",
    description: "Delete the saved token.",
    load: async () => (await import("./login.js")).logoutCommand(),
  },
  {
    name: "import",
    description: "Import files of events, access logs or exports, and wait until they are counted.",
    load: async () => (await import("./import.js")).importCommand(),
  },
  {
    name: "sources",
    description:
      "Manage sources: registries whose download counts are fetched daily (npm, PyPI, Docker Hub ...).",
    load: async () => (await import("./sources.js")).sourcesCommand(),
  },
  {
    name: "packages",
    description: "List the packages that you have access to.",
    load: async () => (await import("./packages.js")).packagesCommand(),
  },
  {
    name: "stats",
    description: "Show statistics of an owner or package: totals, days, companies, countries, versions.",
    load: async () => (await import("./stats.js")).statsCommand(),
  },
  {
    name: "export",
    description: "Export daily aggregates or events as NDJSON, CSV, Parquet or Arrow.",
    load: async () => (await import("./export.js")).exportCommand(),
  },
];
