import { expect, test } from "vitest";
import { REGISTRIES } from "../../../../../api/features/sources/registries/registries.js";
import { packageFor, parseRegistryUrl } from "../../../../../api/features/sources/parse-registry-url.js";
import { SOURCE_KINDS } from "../../../../../schemas/contracts/source.js";
import { testTable } from "../../../../support/test-table.js";

testTable("%s is %j", parseRegistryUrl, [
  [
    "https://www.npmjs.com/package/@acme/tool/v/1.0.0?activeTab=versions",
    { kind: "npm", name: "@acme/tool" },
  ],
  ["https://www.npmjs.com/package/%40acme%2Ftool", { kind: "npm", name: "@acme/tool" }],
  ["npmjs.com/package/left-pad", { kind: "npm", name: "left-pad" }],
  ["https://pypi.org/project/Acme.Tools/#history", { kind: "pypi", name: "Acme.Tools" }],
  ["https://hub.docker.com/r/acme/web/tags", { kind: "docker-hub", name: "acme/web" }],
  ["https://hub.docker.com/_/nginx", { kind: "docker-hub", name: "nginx" }],
  ["https://github.com/acme/tool/releases/tag/v1", { kind: "github-releases", name: "acme/tool" }],
  ["https://github.com/acme/tool.git", { kind: "github-releases", name: "acme/tool" }],
  ["https://crates.io/crates/serde/1.0.0", { kind: "crates", name: "serde" }],
  ["https://rubygems.org/gems/rails/versions/8.0.0", { kind: "rubygems", name: "rails" }],
  ["https://formulae.brew.sh/formula/openssl@3", { kind: "homebrew", name: "openssl@3" }],
  ["git clone https://github.com/acme/tool.git", undefined],
  ["https://github.com/acme", undefined],
  ["https://evil.example/package/left-pad", undefined],
  ["https://www.npmjs.com.evil.example/package/left-pad", undefined],
  ["https://www.npmjs.com/package/%zz", undefined],
  ["left-pad", undefined],
  ["", undefined],
]);

test.each(SOURCE_KINDS)("the page of a %s leads back to it", (kind) => {
  const { name, pageOf } = REGISTRIES[kind];
  expect(parseRegistryUrl(pageOf(name.example))).toEqual({ kind, name: name.example });
});

test.each([
  ["npm", "@acme/tool", { name: "@acme/tool", libraryType: "npm" }],
  [
    "docker-hub",
    "nginx",
    { name: "nginx", libraryType: "docker", backendUrl: "https://docker.io/library/nginx" },
  ],
  ["github-releases", "acme/tool", { name: "tool", libraryType: "other" }],
] as const)("%s %s has a package", (kind, name, expected) =>
  expect(packageFor({ kind, name })).toEqual(expected),
);
