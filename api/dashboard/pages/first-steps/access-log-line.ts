interface AccessLogInto {
  /** URL without a slash at its end. */
  api: string;
  owner: string;
  /** The id of the package. */
  id: string;
  /** The variable of the shell that has the token. */
  token: string;
}

/** The command that imports an access log of a web server, for a checkout of this service. */
export function accessLogLine({ api, owner, id, token }: AccessLogInto): string {
  return [
    "npx maintainer-toolchain import access.log --format combined",
    `  --to ${owner}/${id} --url '${api}' --token "$${token}"`,
  ].join(" \\\n");
}
