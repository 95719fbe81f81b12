import { type Command, Option } from "commander";
import { mistypedVariables } from "../process/mistyped-variables.js";
import { StartFailure } from "../process/start-failure.js";
import type { Service } from "./call-api.js";
import { readSignIn, signInPath } from "./kept-sign-in.js";

export interface ServiceOptions {
  url?: string;
  token?: string;
  json?: true;
}

/** What every command of a running service takes, and what its help says of the token. */
export function addServiceOptions(command: Command, examples = ""): Command {
  return command
    .addOption(urlOption())
    .addOption(tokenOption())
    .option("--json", "print JSON, one object per line")
    .addHelpText("after", `${SIGN_IN_HELP}${examples}`);
}

const DEFAULT_URL = "http://127.0.0.1:8080";

function urlOption(): Option {
  return new Option(
    "--url <url>",
    `URL of the service (default: the one saved by login, or ${DEFAULT_URL})`,
  ).env("MAINTAINER_URL");
}

function tokenOption(): Option {
  return new Option("--token <token>", "API token (default: the one saved by login)").env("MAINTAINER_TOKEN");
}

const SIGN_IN_HELP = `
The command uses the token from --token, from MAINTAINER_TOKEN, or the one saved by login, in this order.
The token is saved in maintainer-toolchain/sign-in.json, in the folder XDG_CONFIG_HOME or ~/.config. It is
only sent to the service that it was saved for.
`;

/** @throws StartFailure without a token, for an URL that is none and for a variable that looks mistyped */
export function serviceOf(options: ServiceOptions): Service {
  const kept = readSignIn();
  const url = urlOf(options, kept);
  // Another service is not to learn the token.
  const token = options.token || (kept?.url === url ? kept.token : undefined);
  if (token === undefined)
    throw new StartFailure(
      `An API token for ${url} is required: use --token TOKEN, MAINTAINER_TOKEN, or maintainer-toolchain ` +
        `login (no token in ${signInPath()}). Find your token on the Account page.`,
    );
  return { url, token };
}

/** Without its last slashes. */
export function urlOf({ url: given }: ServiceOptions, kept: Service | undefined): string {
  const mistyped = mistypedVariables(process.env, ["MAINTAINER_URL", "MAINTAINER_TOKEN"]);
  if (mistyped.length > 0) throw new StartFailure(mistyped.join("\n"));
  const url = (given || kept?.url || DEFAULT_URL).replace(/\/+$/, "");
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new StartFailure(`--url ${url} is not a URL such as https://maintainer.example.`);
  return url;
}
