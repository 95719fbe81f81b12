import { isoOf, orNothing, type ReadLine } from "./logged-request.js";

/**
 * The format `combined` of Apache and nginx, with or without a virtual host ahead (`vhost_combined`) and with further
 * fields behind; `common` too, which has neither referrer nor user agent.
 * Source: httpd.apache.org/docs/2.4/mod/mod_log_config.html, nginx.org/en/docs/http/ngx_http_log_module.html
 */
export function combinedLog(): ReadLine {
  return (line) => {
    const [, address = "", written = "", request = "", status, referrer, userAgent] = LINE.exec(line) ?? [];
    const time = isoOf(written);
    if (time === undefined) return undefined;
    // A client that does not speak HTTP leaves a request line of one word, or of bytes.
    const [method = "", target = ""] = unescaped(request).split(" ");
    return {
      time,
      address,
      method,
      target,
      status: Number(status),
      referrer: unescaped(orNothing(referrer)),
      userAgent: unescaped(orNothing(userAgent)),
    };
  };
}

/** Text in quotes, in which a backslash escapes the next character. */
const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"`;
/** A user's name may contain spaces, so all up to the bracket belongs to it. */
const LINE = new RegExp(
  String.raw`^(?:\S+:\d+ )?(\S+) [^[]*\[([^\]]+)\] ${QUOTED} (\d{3}) \S+(?: ${QUOTED} ${QUOTED})?`,
);

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", v: "\v" };

/** nginx writes `"` as `\x22`, Apache as `\"`. Bytes that are not ASCII are UTF-8. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (whole, character: string | undefined) =>
    character === undefined || whole.startsWith("\\x")
      ? Buffer.from(whole.replaceAll("\\x", ""), "hex").toString()
      : (ESCAPES[character] ?? character),
  );
}
