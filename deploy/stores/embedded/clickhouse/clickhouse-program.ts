import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartFailure } from "../../../process/start-failure.js";

const PACKAGE = "@chdb/lib-linux-x64-gnu";
const PACKAGE_VERSION = "26.7.3-stable.1";

/** The path of the engine's library in its optional package. Throws StartFailure when that is not installed. */
export function findClickHouseLibrary(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    return join(dirname(manifest), "libchdb.so");
  } catch (cause) {
    throw new StartFailure(missingSentence(`${process.platform} ${process.arch}`), { cause });
  }
}

export function missingSentence(platform: string): string {
  const fix =
    platform === "linux x64"
      ? `add it with \`npm install --save-optional ${PACKAGE}@${PACKAGE_VERSION}\``
      : `it exists for linux x64 (glibc) only, and this is ${platform}`;
  return `The embedded ClickHouse needs the package ${PACKAGE}, which is not installed: ${fix}, or set CLICKHOUSE_URL to a ClickHouse server, 25.11 or newer.`;
}

/** The compiled entry of the child process, also when this module runs from source, as in tests. */
export function findChildEntry(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, "clickhouse-child.js");
  if (existsSync(beside)) return beside;
  const compiled = join(here, "../../../../dist/deploy/stores/embedded/clickhouse/clickhouse-child.js");
  if (existsSync(compiled)) return compiled;
  throw new Error(`${compiled} does not exist: run \`npm run build\` first`);
}
