import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missingSentence } from "../../../../../../deploy/stores/embedded/clickhouse/clickhouse-config.js";

test("without the engine's package the sentence names the very package that is depended on, and CLICKHOUSE_URL", () => {
  const manifest = readFileSync(new URL("../../../../../../package.json", import.meta.url), "utf8");
  const [[name, version] = []] = Object.entries(
    (JSON.parse(manifest) as { optionalDependencies: Record<string, string> }).optionalDependencies,
  );
  expect(missingSentence("linux x64")).toContain(`${name}@${version}`);
  expect(missingSentence("linux x64")).toContain("CLICKHOUSE_URL");
});

test("on another platform it does not advise to install what does not exist", () => {
  expect(missingSentence("darwin arm64")).toContain("darwin arm64");
  expect(missingSentence("darwin arm64")).toContain("CLICKHOUSE_URL");
  expect(missingSentence("darwin arm64")).not.toContain("npm install");
});
