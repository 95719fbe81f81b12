import { describe, expect, it } from "vitest";
import { findPlatform, namePlatform } from "../../../../../enrich/lookups/clients/parse-package-client.js";
import { testTable } from "../../../../support/test-table.js";

/** What requests, target triples, wheels and Node call the platforms. */
const NAMES = {
  Linux: (
    "linux Linux LINUX linux64 linux-gnu linux_amd64 linux/arm64 linux-x64-musl ubuntu-22.04 " +
    "x86_64-unknown-linux-musl aarch64-unknown-linux-gnu manylinux_2_17_x86_64 musllinux_1_2_aarch64"
  ).split(" "),
  macOS: [
    ..."darwin macOS macos osx osx-64 mac darwin20.6.0 macosx_11_0_arm64 aarch64-apple-darwin".split(" "),
    ...["Mac OS X", "darwin-arm64", "macos-universal2"],
  ],
  Windows: (
    "win32 win64 windows Windows_NT win-x64 win_amd64 windows-2022 mingw32 MSYS_NT-10.0 " +
    "x86_64-pc-windows-msvc i686-pc-windows-gnu cygwin"
  ).split(" "),
  Android: ["android", "aarch64-linux-android", "armv7-linux-androideabi"],
  iOS: ["ios", "aarch64-apple-ios", "iphoneos", "iPadOS"],
  FreeBSD: ["freebsd", "x86_64-unknown-freebsd", "freebsd14"],
  OpenBSD: ["openbsd"],
  NetBSD: ["netbsd"],
  SunOS: ["sunos", "solaris", "x86_64-pc-solaris2.11", "x86_64-unknown-illumos"],
  AIX: ["aix", "aix_7_2"],
};

const named = Object.entries(NAMES).flatMap(([name, texts]) => texts.map((text) => [text, name] as const));

describe("a platform that is named", () => {
  it.each(named)("%s is %s", (text, name) => {
    expect(namePlatform(text)).toBe(name);
    expect(namePlatform(name)).toBe(name);
  });

  it.each(["riscos", "plan9", "haiku", "any", "toString", "s390x", "wine", "bios", "dragonfly", ""])(
    "%j stays as it is",
    (text) => {
      expect(namePlatform(text)).toBe(text);
    },
  );
});

describe("the platform of a user agent", () => {
  testTable("%s is %s", findPlatform, [
    ["docker/27 os/linux arch/amd64 UpstreamClient(Docker-Client/27 \\(darwin\\))", "Linux"],
    ["aws-cli/2.18.16 ua/2.0 os/macos#14.5 md/arch#arm64", "macOS"],
    ["aws-cli/2.18.16 ua/2.0 os/other md/x#linux", "Linux"],
    ["git/2.39.2 (Apple Git-143)", "macOS"],
    ["tool/1.0 (Red Hat Enterprise 9)", "Linux"],
    ["tool/1.0 (DragonFly 6.4)", "DragonFly"],
    ["poetry/1.8 CPython/3.11 Linux/5.10-microsoft-standard-WSL2", "Linux"],
    ["tool/1.0 (twin; darwinist; linuxes)", ""],
  ]);
});
