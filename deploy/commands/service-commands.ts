import type { CommandEntry } from "./create-program.js";

/** Speak to a running service over HTTP, and need nothing else: the package of the command alone has these. */
export const SERVICE_COMMANDS: readonly CommandEntry[] = [
  {
    name: "login",
    description: "Keep the address of a service and an API token for the other commands.",
    load: async () => (await import("./login.js")).loginCommand(),
  },
  {
    name: "logout",
    description: "Forget the token that login kept.",
    load: async () => (await import("./login.js")).logoutCommand(),
  },
  {
    name: "import",
    description:
      "Send files to a running service: events, or access logs of web servers. Waits until they count.",
    load: async () => (await import("./import.js")).importCommand(),
  },
  {
    name: "sources",
    description:
      "Have a running service ask registries for the counts of your packages: npm, PyPI, Docker Hub ...",
    load: async () => (await import("./sources.js")).sourcesCommand(),
  },
  {
    name: "packages",
    description: "The packages of a running service that can be imported into and asked for.",
    load: async () => (await import("./packages.js")).packagesCommand(),
  },
  {
    name: "stats",
    description: "Numbers of an owner or a package: totals, days, companies, countries, versions.",
    load: async () => (await import("./stats.js")).statsCommand(),
  },
  {
    name: "export",
    description: "Daily aggregates or events, as NDJSON, CSV, Parquet or Arrow.",
    load: async () => (await import("./export.js")).exportCommand(),
  },
];
