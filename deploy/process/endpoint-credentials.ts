/** A URL in parts, for clients such as `fetch` that refuse one with a password in it. */
export interface EndpointCredentials {
  /** Without user name and password. */
  url: string;
  username: string;
  password: string;
}

/** The parts of each URL that has credentials. */
export function endpointCredentials(
  endpoints: Readonly<Record<string, string | undefined>>,
): Record<string, EndpointCredentials> {
  return Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, text]) => {
      const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined || (url.username === "" && url.password === "")) return [];
      const { username, password } = url;
      url.username = "";
      url.password = "";
      return [[name, { url: url.href, username: decoded(username), password: decoded(password) }]];
    }),
  );
}

/** A lone `%` is accepted in a URL and stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
