import { expect, test } from "vitest";
import { RELEASED_AT, RELEASES, detailsText } from "../../../../deploy/demo/event-details.js";
import { Random } from "../../../../deploy/demo/random.js";

test.each(["docker", "npm", "other"] as const)(
  "no download of %s has a version before its release",
  (kind) => {
    const random = new Random(7);
    for (const [nth, at] of RELEASED_AT.entries()) {
      const before = Array.from({ length: 500 }, () => detailsText(kind, random, at - 0.01)).join("");
      expect(before).not.toContain(RELEASES[nth]);
    }
  },
);
