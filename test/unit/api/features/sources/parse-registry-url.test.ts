import { expect, test } from "vitest";
import { REGISTRIES } from "../../../../../api/features/sources/registries/registries.js";
import { packageFor, parseRegistryUrl } from "../../../../../api/features/sources/parse-registry-url.js";
import { SOURCE_KINDS } from "../../../../../schemas/contracts/source.js";

test.each([
  ["https://www.npmjs.com/package/@acme/tool/v/1.0.0?activeTab=versions", "npm", "@acme/tool"],
  ["https://www.npmjs.com/package/%40acme%2Ftool", "npm", "@acme/tool"],
  ["npmjs.com/package/left-pad", "npm", "left-pad"],
  ["https://pypi.org/project/Acme.Tools/#history", "pypi", "Acme.Tools"],
  ["https://hub.docker.com/r/acme/web/tags", "docker-hub", "acme/web"],
  ["https://hub.docker.com/_/nginx", "docker-hub", "nginx"],
  ["https://github.com/acme/tool/releases/tag/v1", "github-releases", "acme/tool"],
  ["git clone https://github.com/acme/tool.git", undefined, undefined],
  ["https://github.com/acme/tool.git", "github-releases", "acme/tool"],
  ["https://crates.io/crates/serde/1.0.0", "crates", "serde"],
  ["https://rubygems.org/gems/rails/versions/8.0.0", "rubygems", "rails"],
  ["https://formulae.brew.sh/formula/openssl@3", "homebrew", "openssl@3"],
  ["https://github.com/acme", undefined, undefined],
  ["https://evil.example/package/left-pad", undefined, undefined],
  ["https://www.npmjs.com.evil.example/package/left-pad", undefined, undefined],
  ["https://www.npmjs.com/package/%zz", undefined, undefined],
  ["left-pad", undefined, undefined],
  ["", undefined, undefined],
])("%s is %s %s", (address, kind, name) =>
  expect(parseRegistryUrl(address)).toEqual(kind === undefined ? undefined : { kind, name }),
);

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
