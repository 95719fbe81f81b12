import { expect, test } from "vitest";
import { startCommand } from "../../../deploy/commands/start.js";
import { GROUPS, VARIABLES, type Variable } from "../../../deploy/config/variables.js";
import { configurationPage } from "../../support/documents/configuration-page.js";

/** `npm run docs` writes the page. */
test("deploy/docs/reference/configuration.md is generated from the declarations", async () => {
  await expect(configurationPage()).toMatchFileSnapshot("../../../deploy/docs/reference/configuration.md");
});

test("every variable is in one section, with a default or the effect of leaving it out", () => {
  const all: [string, Variable][] = Object.values(GROUPS).flatMap((section) =>
    Object.entries<Variable>(section),
  );
  expect(all.map(([name]) => name)).toEqual(Object.keys(VARIABLES));
  const undecided = all.filter(
    ([, schema]) => (schema.default === undefined) === (schema.unset === undefined),
  );
  expect(undecided.map(([name]) => name)).toEqual([]);
});

test("`start --help` says the meaning and the default of every variable", () => {
  const printed: string[] = [];
  const command = startCommand().configureOutput({ writeOut: (text) => printed.push(text) });
  command.outputHelp();
  const help = printed.join("").replace(/\s+/g, " ");
  const missing = Object.entries<Variable>(VARIABLES).filter(([name, schema]) => {
    const said = [schema.default ?? schema.unset ?? "", schema.meaning].map((text) =>
      text.replaceAll("`", ""),
    );
    return !help.includes(`${name} (default: ${said[0]}) ${said[1]}`);
  });
  expect(missing.map(([name]) => name)).toEqual([]);
});
