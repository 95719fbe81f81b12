import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const UNIT = readFileSync("deploy/systemd/maintainer-toolchain.service", "utf8");

test("the unit gives a drain its time, and stops the program before its stores", () => {
  for (const line of ["Restart=always", "TimeoutStopSec=30", "KillMode=mixed", "OOMPolicy=continue"])
    expect(UNIT.split("\n")).toContain(line);
});

const isThere = spawnSync("sh", ["-c", "command -v systemd-analyze"]).status === 0;

test.skipIf(!isThere)("the unit has no line that systemd does not know", () => {
  const folder = mkdtempSync(join(tmpdir(), "unit-"));
  const path = join(folder, "maintainer-toolchain.service");
  // The program is not installed here.
  writeFileSync(path, UNIT.replace(/^ExecStart=.*$/m, "ExecStart=/bin/true"));
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(`${stdout}${stderr}`).not.toContain(path);
});
