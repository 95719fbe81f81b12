import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const scripts = readdirSync("test/paths").filter((name) => name.endsWith(".sh"));
const contributing = readFileSync("deploy/docs/contribute/contributing.md", "utf8");

describe.each(scripts)("test/paths/%s", (name) => {
  test("is a script that bash reads", () => {
    expect(spawnSync("bash", ["-n", `test/paths/${name}`], { encoding: "utf8" }).stderr).toBe("");
  });

  test.skipIf(name === "with-service.sh")("is among the paths that the page lists", () => {
    expect(contributing).toContain(`test/paths/${name} `);
  });
});
