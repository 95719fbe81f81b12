import { expect, test } from "vitest";
import { linkBase } from "../../../deploy/roles/link-base.js";

const PUBLIC = "https://stats.acme.example/tools";

test.each([
  [PUBLIC, undefined, PUBLIC],
  [PUBLIC, "http://0.0.0.0:8080", PUBLIC],
  [undefined, "http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  [undefined, "http://127.8.8.8:8080", "http://127.8.8.8:8080"],
  [undefined, "http://localhost:8080", "http://localhost:8080"],
  [undefined, "http://[::1]:8080", "http://[::1]:8080"],
  [undefined, "http://0.0.0.0:8080", undefined],
  [undefined, "http://[::]:8080", undefined],
  [undefined, "http://192.0.2.1:8080", undefined],
  [undefined, "http://127.evil.example:8080", undefined],
  [undefined, undefined, undefined],
])(
  "with PUBLIC_URL %s, of a program that listens at %s, links lead to %s",
  (publicUrl, listeningAt, base) => {
    const config = { trustedProxies: [], ...(publicUrl !== undefined && { publicUrl }) };
    expect(linkBase(config, listeningAt)).toBe(base);
  },
);

test("behind a proxy links lead to PUBLIC_URL, or nowhere", () => {
  const config = { trustedProxies: ["127.0.0.1"] };
  expect(linkBase(config, "http://127.0.0.1:8080")).toBeUndefined();
  expect(linkBase({ ...config, publicUrl: PUBLIC }, "http://127.0.0.1:8080")).toBe(PUBLIC);
});
