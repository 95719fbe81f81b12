import { compare, explain } from "@renovatebot/pep440";
import fc from "fast-check";
import semver from "semver";
import { describe, expect, test } from "vitest";
import { newestFirst } from "../../../../aggregate/statistics/compare-versions.js";
import {
  groupVersion,
  schemeOf,
  type VersionScheme,
} from "../../../../aggregate/statistics/group-version.js";
import { Random } from "../../../../deploy/demo/random.js";
import { AWKWARD_VERSIONS } from "../../../support/statistics/awkward-versions.js";

const SCHEMES = Object.keys(AWKWARD_VERSIONS) as VersionScheme[];

describe.each(SCHEMES)("versions as of %s", (scheme) => {
  const rows = AWKWARD_VERSIONS[scheme];

  test.each(rows)("%j is in %j by minor and in %j by major", (version, minor, major) => {
    expect(groupVersion(version, { scheme, by: "exact" })).toBe(version);
    expect(groupVersion(version, { scheme, by: "minor" })).toBe(minor);
    expect(groupVersion(version, { scheme, by: "major" })).toBe(major);
    expect(groupVersion(minor, { scheme, by: "minor" })).toBe(minor);
    expect(groupVersion(minor, { scheme, by: "major" })).toBe(major);
    expect(groupVersion(major, { scheme, by: "major" })).toBe(major);
  });

  test("are in their order, whatever order they were in", () => {
    const versions = rows.map(([version]) => version);
    const random = new Random(7);
    for (let turn = 0; turn < 50; turn += 1) {
      const mixed = versions.toSorted(() => random.below(3) - 1);
      expect(mixed.sort(newestFirst(scheme))).toEqual(versions);
    }
  });

  test("have one order: any three of them agree", () => {
    const order = newestFirst(scheme);
    const version = fc.oneof(
      fc.constantFrom(...rows.map(([each]) => each)),
      fc.stringMatching(/^v?[01]\.[01](\.[01])?([-.+]?(rc|a|post|dev|x|alpine)?[01]?)$/),
    );
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(order(a, b)) + Math.sign(order(b, a))).toBe(0);
        expect(order(a, b) === 0).toBe(a === b);
        if (order(a, b) < 0 && order(b, c) < 0) expect(order(a, c)).toBeLessThan(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("there are more than sixty of them", () => {
  expect(SCHEMES.flatMap((scheme) => AWKWARD_VERSIONS[scheme]).length).toBeGreaterThan(60);
});

test("versions of Python are grouped and ordered as PEP 440 reads them", () => {
  const number = fc.integer({ min: 0, max: 12 });
  const version = fc
    .record({
      epoch: fc.option(number),
      release: fc.array(number, { minLength: 1, maxLength: 4 }),
      rest: fc.constantFrom(...PYTHON_RESTS),
    })
    .map(({ epoch, release, rest }) => `${epoch === null ? "" : `${epoch}!`}${release.join(".")}${rest}`);
  fc.assert(
    fc.property(version, (text) => {
      const { epoch = 0, release = [] } = explain(text) ?? {};
      const major = `${epoch === 0 ? "" : `${epoch}!`}${release[0]}`;
      expect(groupVersion(text, { scheme: "pep440", by: "major" })).toBe(`${major}.x`);
      expect(groupVersion(text, { scheme: "pep440", by: "minor" })).toBe(`${major}.${release[1] ?? 0}.x`);
    }),
  );
});

const PYTHON_RESTS = [
  ...["", "a1", "b2", "rc3", "c10", "rc3.post1", "rc3.dev2", ".post1", ".post1.dev2", ".dev4", "-1", "-0"],
  ...["+local.7", "+local", "+local.10", "+LOCAL", "+2", "+10", "+2.local", "rc3+2", ".dev4+2"],
];

test("Python versions of the same numbers have the order of the library", () => {
  for (const one of PYTHON_RESTS.map((rest) => `1.0${rest}`))
    for (const other of PYTHON_RESTS.map((rest) => `1.0${rest}`)) {
      const order = newestFirst("pep440")(one, other);
      expect(Math.sign(order)).toBe(Math.sign(compare(other, one)) || Math.sign(order));
    }
});

test("semantic versions are grouped and ordered as the specification says", () => {
  const number = fc.integer({ min: 0, max: 12 });
  const version = fc
    .tuple(
      number,
      number,
      number,
      fc.constantFrom("", "-rc.1", "-rc.11", "-rc.2", "-alpha", "-alpha.beta", "+b.1"),
    )
    .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`);
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(groupVersion(one, { scheme: "semver", by: "minor" })).toBe(
        `${semver.major(one)}.${semver.minor(one)}.x`,
      );
      expect(groupVersion(one, { scheme: "semver", by: "major" })).toBe(`${semver.major(one)}.x`);
      const order = semver.rcompare(one, other);
      if (order !== 0) expect(Math.sign(newestFirst("semver")(one, other))).toBe(order);
    }),
  );
});

test.each([
  [["pypi"], "pep440"],
  [["docker"], "tag"],
  [["npm"], "semver"],
  [["hackage"], "semver"],
  [["other"], "semver"],
  [["pypi", "docker"], "semver"],
  [[], "semver"],
] as const)("the versions of packages of the types %j are as of %s", (types, scheme) => {
  expect(schemeOf(new Set(types))).toBe(scheme);
});
