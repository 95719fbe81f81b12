import type { VersionScheme } from "../../../aggregate/statistics/group-version.js";

type Awkward = readonly [version: string, minor: string, major: string];

const DIGEST = `sha256:${"4f2a1b7c".repeat(8)}`;
const LONG_NUMBER = "9".repeat(300);
const LONG_TEXT = "x".repeat(1_000);

/** The versions of each minor group of a major one. */
const inMajor = (major: string, minors: Record<string, readonly string[]>): Awkward[] =>
  Object.entries(minors).flatMap(([minor, versions]) =>
    versions.map((version) => [version, minor, major] as const),
  );

const ungrouped = (...versions: readonly string[]): Awkward[] =>
  versions.map((version) => [version, version, version] as const);

/** Versions with their groups, the newest first. */
export const AWKWARD_VERSIONS: Readonly<Record<VersionScheme, readonly Awkward[]>> = {
  semver: [
    ...inMajor("99999999999999999999.x", { "99999999999999999999.1.x": ["99999999999999999999.1.0"] }),
    ...inMajor("20241001.x", { "20241001.0.x": ["20241001"] }),
    ...inMajor("2024.x", { "2024.10.x": ["2024.10.1"], "2024.04.x": ["2024.04"] }),
    ...inMajor("10.x", { "10.0.x": ["10.0.0"] }),
    ...inMajor("9.x", { "9.9.x": ["9.9.9"] }),
    ...inMajor("2.x", { "2.0.x": ["2", "v2-beta"] }),
    ...inMajor("1.x", {
      [`1.${LONG_NUMBER}.x`]: [`1.${LONG_NUMBER}`],
      "1.10.x": ["1.10.0"],
      "1.9.x": ["1.9.0"],
      "1.2.x": [
        "1.2.3.4",
        "v1.2.3",
        "1.2.3+build.11",
        "1.2.3+build",
        "1.2.3",
        "1.2.3-rc.10",
        "1.2.3-rc.2",
        "1.2.3-beta",
        "1.2.3-alpha.beta",
        "1.2.3-alpha.1",
        "1.2.3-0",
        "1.2.3 (patched)",
        "1.2.3\n4",
        "V1.2",
      ],
    }),
    ...inMajor("01.x", { "01.2.x": ["01.2"] }),
    ...inMajor("1.x", { "1.2.x": ["1.2rc1", "1.2.x"], "1.0.x": ["1"] }),
    ...ungrouped("1.x"),
    ...inMajor("0.x", { "0.0.x": ["0.0.1", "0.0.0"] }),
    ...inMajor("@acme/tool@1.x", { "@acme/tool@1.2.x": ["@acme/tool@1.2.3"] }),
    ...inMajor("cli/2.x", { "cli/2.3.x": ["cli/v2.3.4"] }),
    ...inMajor("jq-1.x", { "jq-1.7.x": ["jq-1.7.1"] }),
    ...ungrouped(LONG_TEXT, "next", "1..2", "1.", "🚀", ".5", "-1", ""),
  ],
  tag: [
    ...inMajor("2024.x", { "2024.x": ["2024-10-01"] }),
    ...inMajor("22.x", { "22.04.x": ["22.04"] }),
    ...inMajor("17.x", { "17.x": ["17-jdk"] }),
    ...inMajor("3.x", { "3.10.x": ["3.10-slim-bookworm"], "3.9.x": ["3.9-slim-bookworm", "3.9"] }),
    ...inMajor("1.x", {
      "1.10.x": ["1.10-alpine3.19", "1.10-alpine3.9", "1.10-alpine", "1.10", "1.10.0-SNAPSHOT"],
      "1.9.x": ["1.9.3", "1.9.3-rc1", "1.9-alpine", "1.9"],
      "1.2.x": [`1.2.3@${DIGEST}`, "v1.2"],
      "1.x": ["1-alpine", "1"],
    }),
    ...inMajor("alpine-3.x", { "alpine-3.19.x": ["alpine-3.19"] }),
    ...inMajor("nightly-2024.x", { "nightly-2024.10.x": ["nightly-2024.10.1"] }),
    ...ungrouped(
      "stable-20240101",
      DIGEST,
      "sha-4f2a1b7",
      "pr-123",
      "pr-99",
      "main",
      "latest",
      "alpine3.19",
      "8u292-jdk",
      "4f2a1b7",
    ),
  ],
  pep440: [
    ...inMajor("1!2.x", { "1!2.0.x": ["1!2.0.post1"] }),
    ...inMajor("1!1.x", { "1!1.0.x": ["1!1.0"] }),
    ...inMajor("2024.x", { "2024.10.x": ["2024.10.1"] }),
    ...inMajor("2.x", {
      "2.0.x": [
        "2.0.post1",
        "2.0.post1.dev2",
        "2.0+cu118",
        "2.0+cpu",
        "2.0",
        "2.0rc1",
        "2.0b2",
        "2.0a1",
        "2a",
        "2.0.dev3",
      ],
    }),
    ...inMajor("1.x", {
      "1.10.x": ["1.10"],
      "1.9.x": ["1.9"],
      "1.5.x": ["0!1.5"],
      "1.3.x": ["v1.3"],
      "1.2.x": ["1.2.3.4.5", "1.2.3.dev20240101+g4f2a1b7", "1.2.0", "1.2", "01.2", "1.2-rc.1", "1.2.*"],
      "1.0.x": ["1-1", "1.0", "1", "1a1", "1.dev1", "1.0-slim"],
    }),
    ...inMajor("0.x", { "0.1.x": ["00.1"] }),
    ...ungrouped("unknown", "3d"),
  ],
};
