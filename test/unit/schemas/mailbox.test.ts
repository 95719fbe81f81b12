import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMailbox } from "../../../schemas/mailbox.js";

describe("a mailbox", () => {
  test.each([
    ["Ada <ada@example.org>", "Ada"],
    ["<ada@example.org>", ""],
    ['"Ada Lovelace" <ada@example.org>', "Ada Lovelace"],
    ["Ada Lovelace<ada@example.org>", "Ada Lovelace"],
    ["Ada B. Lovelace <ada@example.org>", "Ada B. Lovelace"],
    ['"Lovelace, Ada" <ada@example.org>', "Lovelace, Ada"],
    ['"Ada \\"the first\\" @ work" <ada@example.org>', 'Ada "the first" @ work'],
    ['Ada "the first" Lovelace <ada@example.org>', "Ada the first Lovelace"],
    ["Ada (of (the) engine) <ada@example.org> (x)", "Ada"],
    ["ada(comment)@example.org", ""],
    ["(a\\)b) ada @ example . org", ""],
    [" ada@example.org ", ""],
    ['"ada"@example.org', ""],
    ["Statistik für Äcme <ada@example.org>", "Statistik für Äcme"],
    ["日本 <ada@example.org>", "日本"],
    ["O'Brien <ada@example.org>", "O'Brien"],
  ])("%s has the name %j", (text, name) => {
    expect(parseMailbox(text)).toEqual({ name, address: "ada@example.org" });
  });

  test.each([
    "ada@example.org",
    "o'brien@example.org",
    "ada+stats/{x}=y@example.org",
    '"ada lovelace"@example.org',
    '"ada@home"@example.org',
    '"a\\"b\\\\"@example.org',
    "äda@exämple.org",
    "用户@例子.广告",
    "ada@xn--exmple-cua.org",
    "ada@[192.0.2.1]",
    "ada@[IPv6:2001:db8::1]",
    `${"a".repeat(64)}@example.org`,
  ])("keeps the address %s", (address) => {
    expect(parseMailbox(address)).toEqual({ name: "", address });
  });

  test.each([
    "",
    "ada",
    "@example.org",
    "ada@",
    "ada@@example.org",
    "ada@example.org@example.org",
    ".ada@example.org",
    "ada.@example.org",
    "a..b@example.org",
    "ada@example..org",
    "ada@.example.org",
    "ada@example.org.",
    "ada@-example.org",
    "ada@exa_mple.org",
    "root@mailhost",
    "ada lovelace@example.org",
    "ada@example.org, bob@example.org",
    "Ada <ada@example.org>, Bob <bob@example.org>",
    "Friends: ada@example.org;",
    "Ada <ada@example.org",
    "Ada ada@example.org>",
    "Ada <ada@example.org> Lovelace",
    "Ada <<ada@example.org>>",
    "Ada, B. <ada@example.org>",
    "Ada <>",
    '"ada@example.org',
    '""@example.org',
    "ada(@example.org",
    "ada@example.org)",
    "ada@[300.0.2.1]",
    "ada@[example.org]",
    "ada@[2001:db8::1]",
    "ada@example.org\r\nBcc: eve@example.org",
    "Ada\n <ada@example.org>",
    "ada\u0000@example.org",
    "ada\u202e@example.org",
    "ada\u200b@example.org",
    "ada\u00a0b@example.org",
    `${"a".repeat(65)}@example.org`,
    `ada@${"a".repeat(64)}.org`,
    `ada@${"abcdefgh.".repeat(30)}org`,
    `${"a".repeat(2_000)} <ada@example.org>`,
  ])("is not %j", (text) => {
    expect(parseMailbox(text)).toBeUndefined();
  });

  test("is read as it was written, whatever the name and the quoted part hold", () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab @<>()[],;:."\\ä日') });
    const quoted = (plain: string) => `"${plain.replace(/["\\]/g, "\\$&")}"`;
    fc.assert(
      fc.property(
        text,
        text.filter((local) => local !== "" && Buffer.byteLength(local) < 30),
        (name, local) => {
          const read = parseMailbox(`${quoted(name)} <${quoted(local)}@example.org>`);
          expect(read?.name).toBe(name);
          expect(parseMailbox(read?.address ?? "")).toEqual({ name: "", address: read?.address });
        },
      ),
    );
  });

  test("is read in linear time", () => {
    for (const part of ["(", '"', "\\", "a.", "<", "()", "@"])
      expect(parseMailbox(part.repeat(500))).toBeUndefined();
  });
});
