import { describe, test } from "vitest";

interface Need {
  /** The sentence that says what this machine lacks and what to install; undefined when all is there. */
  missing: string | undefined;
  /** The rule that the suite must run with CI=true, where nobody reads what was skipped. Without it, it need not. */
  ciRule?: string;
}

/** A suite that needs something of the machine. Without it the suite is reported as skipped, with the reason in its title. */
export function describeOrSkip(name: string, { missing, ciRule }: Need, suite: () => void): void {
  if (missing === undefined) return void describe(name, suite);
  if (ciRule !== undefined && process.env["CI"] === "true")
    return void test(`${name}: all that it needs is there`, () => {
      throw new Error(`${ciRule} ${missing}`);
    });
  process.stderr.write(`\nSKIPPED: ${name}. ${missing}\n\n`);
  describe.skip(`${name} (${missing})`, suite);
}
