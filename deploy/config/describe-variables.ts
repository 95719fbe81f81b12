import { SECTIONS } from "./config-schema.js";
import type { VariableSchema } from "./variables.js";

/** The page deploy/docs/configuration.md: each variable with its default, its rule and its meaning. */
export function configurationPage(): string {
  const sections = Object.entries(SECTIONS).map(
    ([title, variables]) => `## ${title}\n\n${Object.entries(variables).map(entryOf).join("\n").trimEnd()}\n`,
  );
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# Configuration

<!-- Made from deploy/config/config-schema.ts. Change that file, then run: npm run docs -->

The program reads environment variables, once, when it starts. A variable that is set to nothing counts as not set. A wrong
value stops the start with a sentence that names the variable, its rule and the value; the value of a secret is not shown. So does
a name that is one slip away from one of these, such as COLECT_PORT.
\`npm start -- --help\` prints this list.

While the program runs, \`DATA_DIR/endpoints.json\` (mode 0600) holds the URL of every server and store, credentials
included, for tools that want to look inside. Its \`credentials\` has the parts of each URL with a password, for clients
that refuse one.
`;

function entryOf([name, schema]: [string, VariableSchema]): string {
  const rule = `\`${name}\`: ${schema.mustBe}. Default: ${defaultOf(schema)}.`;
  return `${wrapped(`- ${rule}`, { indent: "  ", width: 120 })}\n${wrapped(`  ${schema.meaning}`, { indent: "  ", width: 120 })}\n`;
}

function defaultOf(schema: VariableSchema): string {
  return schema.default === undefined ? (schema.unset ?? "none") : `\`${schema.default}\``;
}

/** The same list as plain text, for `start --help`. */
export function configurationHelp(): string {
  const sections = Object.entries(SECTIONS).map(([title, variables]) => {
    const entries = Object.entries(variables).map(([name, schema]) => helpEntry(name, schema));
    return `${title}:\n${entries.join("")}`;
  });
  return sections.join("\n").trimEnd();
}

function helpEntry(name: string, schema: VariableSchema): string {
  const text = `${schema.meaning} Must be ${schema.mustBe}.`.replaceAll("`", "");
  const unset = defaultOf(schema).replaceAll("`", "");
  return `  ${name} (default: ${unset})\n${wrapped(`      ${text}`, { indent: "      ", width: 100 })}\n`;
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
