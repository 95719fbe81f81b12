import { GROUPS, type Variable } from "../config/variables.js";

/** Every variable with its default, its meaning and its rule, as plain text for `start --help`. */
export function configurationHelp(): string {
  const sections = Object.entries(GROUPS).map(([title, variables]) => {
    const entries = Object.entries<Variable>(variables).map(([name, variable]) => helpEntry(name, variable));
    return `${title}:\n${entries.join("")}`;
  });
  return sections.join("\n").trimEnd();
}

function helpEntry(name: string, variable: Variable): string {
  const roles = variable.roles === undefined ? "" : ` Roles: ${variable.roles.join(", ")}.`;
  const text = `${meaningOf(variable)} Must be ${variable.mustBe}.${roles}`.replaceAll("`", "");
  const unset = defaultOf(variable).replaceAll("`", "");
  return `  ${name} (default: ${unset})\n${wrapped(`      ${text}`, { indent: "      ", width: 100 })}\n`;
}

/** What the variable is for, and what it requires; with backquotes. */
export function meaningOf({ meaning, requires = [] }: Variable): string {
  if (requires.length === 0) return meaning;
  return `${meaning} Requires ${requires.map((name) => `\`${name}\``).join(", ")}.`;
}

/** The default value, or the effect of leaving the variable out; with backquotes. */
export function defaultOf(variable: Variable): string {
  return variable.default === undefined ? (variable.unset ?? "none") : `\`${variable.default}\``;
}

function wrapped(text: string, { indent, width }: { indent: string; width: number }): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\S) /)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}
