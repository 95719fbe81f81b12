import { SECTIONS } from "../config/config-schema.js";
import type { VariableSchema } from "../config/variables.js";

/** The page deploy/docs/reference/configuration.md: each variable with its default, its rule and its meaning. */
export function configurationPage(): string {
  const sections = Object.entries(SECTIONS).map(
    ([title, variables]) =>
      `## ${title}\n\n| variable | default | meaning |\n|---|---|---|\n${Object.entries(variables).map(rowOf).join("\n")}\n`,
  );
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# Configuration

<!-- Generated from deploy/config/config-schema.ts. Change that file, then run: npm run docs -->

Look up every environment variable with its default. The service reads the variables once, when it starts.
\`npm start -- --help\` prints the same list.

## The five that matter first

| variable | what to set |
|---|---|
| \`PUBLIC_URL\` | the URL at which people reach the service |
| \`TRUSTED_PROXIES\` | the IP address of your [proxy with TLS](../how-to/host-names.md), so that the service sees the IP addresses of your users |
| \`DATA_DIR\` | if you use embedded stores, a folder on a disk with enough space |
| \`SECRET_KEY\` | if you use [your own stores](../operate/own-stores.md), the same key for every process |
| \`SMTP_URL\`, \`MAIL_FROM\` | if you want [notifications](../how-to/notifications.md) by email, the mail server and the sender of the emails |

- An empty variable counts as not set.
- If a value is invalid, or a name looks like a misspelled variable, the service does not start and prints the reason.
- While the service runs, \`DATA_DIR/endpoints.json\` (mode 0600) contains the URLs of all servers and stores, with credentials.
`;

function rowOf([name, schema]: [string, VariableSchema]): string {
  const cells = [`\`${name}\``, defaultOf(schema), `${schema.meaning} Value: ${asCode(schema.mustBe)}.`];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Examples of URLs are no links. */
function asCode(rule: string): string {
  return rule.replace(/\b[a-z-]+=?https?:\/\/[^\s,;()]+|\b[a-z]+:\/\/[^\s,;()]+/g, "`$&`");
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
