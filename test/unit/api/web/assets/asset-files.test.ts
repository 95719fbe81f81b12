import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { assetPath } from "../../../../../api/web/assets/asset-files.js";
import { assetUrl } from "../../../../../schemas/asset.js";

/** The modules that compiled ones import, with theirs, by the folder that has them. */
function importsOf(folder: string, name: string): string[] {
  const text = readFileSync(assetUrl(`dist/${folder}/${name}`), "utf8");
  const records = [...text.matchAll(/from "(?:\.\/|(?:\.\.\/)+schemas\/records\/)([\w-]+\.js)"/g)].map(
    ([, found = ""]) => found,
  );
  return records.flatMap((found) => [found, ...importsOf("schemas/records", found)]);
}

test("a script is served with the modules that it imports, and those that these import", () => {
  const imported = importsOf("schemas/records", "guess-format.js");
  expect(imported).toContain("unship-line.js");
  for (const name of ["upload.js", "poll.js", "guess-format.js", "numbered.js", ...imported])
    expect(assetPath(name)).toMatch(new RegExp(`^/assets/[^/]+/${name}$`));
});
