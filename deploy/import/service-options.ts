import { Option } from "commander";
import { mistypedVariables } from "../config/mistyped-variables.js";
import { StartFailure } from "../process/start-failure.js";
import type { Service } from "./call-api.js";

export interface ServiceOptions {
  url: string;
  token?: string;
}

export function urlOption(): Option {
  return new Option("--url <url>", "of the service").env("MAINTAINER_URL").default("http://127.0.0.1:8080");
}

export function tokenOption(): Option {
  return new Option("--token <token>", "an API token").env("MAINTAINER_TOKEN");
}

/** @throws StartFailure without a token, for an URL that is none and for a variable that looks mistyped */
export function serviceOf({ url, token }: ServiceOptions): Service {
  const mistyped = mistypedVariables(process.env, ["MAINTAINER_URL", "MAINTAINER_TOKEN"]);
  if (mistyped.length > 0) throw new StartFailure(mistyped.join("\n"));
  if (token === undefined || token === "")
    throw new StartFailure(
      "An API token is needed: --token TOKEN, or MAINTAINER_TOKEN in the environment. It is on the account's page.",
    );
  if (!URL.canParse(url))
    throw new StartFailure(`--url ${url} is not a URL such as https://maintainer.example.`);
  return { url, token };
}
