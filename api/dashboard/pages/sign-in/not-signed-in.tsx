import { SIGN_IN_FAILED } from "../../../identity/sign-in-limits.js";
import { useVisit } from "../../page.js";
import { PageHead } from "../../parts/page-head.js";

/** A way to sign in that did not: the one sentence for every reason, and a link to the others. */
export function NotSignedIn({ title }: { title: string }) {
  const { href } = useVisit();
  return (
    <div class="sign-in">
      <PageHead title={title} />
      <p class="problem" role="alert">
        {SIGN_IN_FAILED}
      </p>
      <p>
        <a href={href("/sign-in")}>Sign in another way</a>
      </p>
    </div>
  );
}
