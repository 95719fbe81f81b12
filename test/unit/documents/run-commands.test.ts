import { expect, test } from "vitest";
import type { Command } from "../../support/documents/pages.js";
import { runCommands } from "../../support/documents/run-commands.js";

const OPTIONS = { env: { GIVEN: "given" }, timeoutMs: 60_000 };

const command = (page: string, text: string): Command => ({ page, line: 1, language: "sh", text, shown: [] });

test("gives each page a new shell, with what the first page exports and the files of all", async () => {
  const outcomes = await runCommands(
    [
      command("first", "export KEPT=kept; LOST=lost; say() { echo said; }; echo file > written.txt\n"),
      command("first", 'echo "$KEPT $LOST $GIVEN"; say\n'),
      command("second", 'echo "${KEPT:-none} ${LOST:-none} $GIVEN"; cat written.txt; OWN=own; say\n'),
      command("second", 'echo "$OWN"\n'),
      command("third", 'echo "${OWN:-none}"\n'),
    ],
    OPTIONS,
  );
  expect(outcomes.map((outcome) => outcome?.output)).toEqual([
    "",
    "kept lost given\nsaid\n",
    "kept none given\nfile\n",
    "own\n",
    "none\n",
  ]);
  expect(outcomes.map((outcome) => outcome?.failed)).toEqual([[], [], ["say"], [], []]);
});

test("names the command that failed, and goes on with the next block", async () => {
  const outcomes = await runCommands(
    [
      command("first", "true\n"),
      command("second", "false || true; ls /nothing; echo after\n"),
      command("third", "echo third\n"),
    ],
    OPTIONS,
  );
  expect(outcomes[1]).toMatchObject({ output: "after\n", failed: ["ls /nothing"] });
  expect(outcomes[2]?.output).toBe("third\n");
});
