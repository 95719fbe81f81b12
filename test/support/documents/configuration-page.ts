import { defaultOf, meaningOf } from "../../../deploy/commands/describe-variables.js";
import { GROUPS, type Variable } from "../../../deploy/config/variables.js";

/** The page deploy/docs/reference/configuration.md: each variable with its default, its rule and its meaning. */
export function configurationPage(): string {
  const sections = Object.entries(GROUPS).map(
    ([title, variables]) =>
      `## ${title}\n\n| variable | default | roles | meaning |\n|---|---|---|---|\n${Object.entries<Variable>(variables).map(rowOf).join("\n")}\n`,
  );
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# Configuration

<!-- Generated from deploy/config/variables.ts. Change that file, then run: npm run docs -->

Look up every environment variable with its default and the [roles](../operate/roles.md) that read it. The service reads the
variables once, when it starts. \`npm start -- --help\` prints the same list.

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

function rowOf([name, variable]: [string, Variable]): string {
  const roles = variable.roles?.map((role) => `\`${role}\``).join(", ") ?? "all";
  const cells = [
    `\`${name}\``,
    defaultOf(variable),
    roles,
    `${meaningOf(variable)} Value: ${asCode(variable.mustBe)}.`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Examples of URLs are no links. */
function asCode(rule: string): string {
  return rule.replace(/\b[a-z-]+=?https?:\/\/[^\s,;()]+|\b[a-z]+:\/\/[^\s,;()]+/g, "`$&`");
}
