import { useVisit } from "../../web/page.js";

/** Beside commands that read the API token from the shell. */
export function TokenHint() {
  const { href } = useVisit();
  return (
    <p class="soft">
      First set <code>MAINTAINER_TOKEN</code> to a token from your <a href={href("/account")}>account page</a>
      .
    </p>
  );
}
