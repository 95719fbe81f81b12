import { describe, expect, test } from "vitest";
import {
  asksForSidecar,
  isSidecarFile,
  isSidecarTag,
  namesSidecar,
} from "../../../../schemas/routing/sidecar-files.js";
import { decodeRouteTemplate, type RouteTemplate } from "../../../../schemas/routing/url-template.js";

const SIDECARS = [
  "tool-1.4.0.tgz.asc",
  "tool-1.4.0.tgz.ASC",
  "tool-1.4.0.tgz.sig",
  "linux-6.9.tar.sign",
  "tool.minisig",
  "tool-1.4.0.tgz.md5",
  "tool-1.4.0.tgz.sha1",
  "tool-1.4.0.tgz.sha256",
  "tool-1.4.0.tgz.sha512",
  "tool-1.4.0.tgz.sha-256",
  "tool-1.4.0.tgz.sha256sum",
  "tool-1.4.0.tgz.sha256.txt",
  "tool-1.4.0.tgz.b2sum",
  "tool-1.4.0.tgz.blake2b",
  "acme_tool-1.4.0-py3-none-any.whl.metadata",
  "acme_tool-1.4.0-py3-none-any.whl.provenance",
  "acme_tool-1.4.0.tar.gz.publish.attestation",
  "tool.tgz.attestation.json",
  "tool.tgz.sigstore",
  "tool.tgz.sigstore.json",
  "tool.intoto.jsonl",
  "multiple.intoto.jsonl",
  "tool.tgz.crt",
  "tool.tgz.pem",
  "tool-1.4.0.pem",
  "checksums.txt.pem",
  "tool.tgz.sbom",
  "tool.tgz.sbom.json",
  "tool-1.4.0.spdx.json",
  "tool-1.4.0.cdx.xml",
  "tool.exe.blockmap",
  "tool.AppImage.zsync",
  "SHA256SUMS",
  "SHASUMS256.txt",
  "releases/1.4.0/MD5SUMS",
  "checksums.txt",
  "tool_1.4.0_checksums.txt",
  "tool_1.4.0_SHA256SUMS",
];

const DOWNLOADS = [
  "tool-1.4.0.tgz",
  "tool-1.4.0",
  "tool-1.4.0.b2",
  "tool-linux-amd64",
  "cacert.pem",
  "root-ca.crt",
  "cosign.pub",
  "metadata",
  "asc",
  "sig.tgz",
  "signature-tool-1.0.zip",
  "md5",
  "sha256sum-9.4.tar.xz",
  "checksum-1.0.0.tgz",
  "provenance.tgz",
  "tool.json",
  "data.jsonl",
  "notes.txt",
  "tool-1.4.0.sha256/tool.tgz",
  "sums.txt",
  "tool.attribution",
];

test.each(SIDECARS)("%s is a sidecar", (name) => expect(isSidecarFile(name)).toBe(true));
test.each(DOWNLOADS)("%s is a file of its own", (name) => expect(isSidecarFile(name)).toBe(false));

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();

test.each([
  "/releases/tool.tgz.asc?x=1",
  "/releases/tool.tgz.asc#x",
  "/releases/tool.tgz%2Easc",
  "/releases/tool.tgz.%61sc",
  "https://example.org/releases/tool.tgz.asc",
])("a request of %s asks for a sidecar", (target) => expect(asksForSidecar(target, NO_VARIABLES)).toBe(true));

test("a file that the query names counts as well, and no other parameter", () => {
  expect(asksForSidecar("/dl?file=tool.tgz.asc", new Map([["file", "tool.tgz.asc"]]))).toBe(true);
  expect(asksForSidecar("/dl?x=tool.tgz.asc", NO_VARIABLES)).toBe(false);
});

describe("a template names sidecars", () => {
  test.each([
    "/keys/release.asc",
    "/r/{file}.pem",
    "/r/tool-{v}.sha256",
    "/r/{v}/SHA256SUMS",
    "/dl?f={f}.sig",
  ])("%s", (text) => expect(namesSidecar(decodeRouteTemplate(text) as RouteTemplate)).toBe(true));

  test.each(["/r/{file}", "/{+path}", "/r/tool-{v}.tgz", "/r/x.asc/{file}"])("but not %s", (text) =>
    expect(namesSidecar(decodeRouteTemplate(text) as RouteTemplate)).toBe(false),
  );
});

test("tags of signatures, attestations, bills of materials and referrers are sidecars", () => {
  const hex = "0".repeat(64);
  for (const tag of [".sig", ".att", ".sbom", ""]) expect(isSidecarTag(`sha256-${hex}${tag}`)).toBe(true);
  for (const tag of ["1.4.0", "latest", `sha256:${hex}`, "1.4.0.sig"]) expect(isSidecarTag(tag)).toBe(false);
});
