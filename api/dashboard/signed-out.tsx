import { useVisit } from "../web/page.js";
import { PageHead } from "../web/parts/panel.js";

/** In place of a form's answer where the session has ended meanwhile. The browser still has what was typed. */
export function SignedOut() {
  const { href } = useVisit();
  return (
    <div class="sign-in">
      <PageHead
        title="Your session has ended"
        about="Nothing was saved. Your browser still has what you typed."
      />
      <p>
        1.{" "}
        <a class="button" href={href("/sign-in")} target="_blank" rel="noopener">
          Sign in (opens a new tab)
        </a>
      </p>
      <p>2. Return to this tab and reload it. Your browser will offer to send the form again.</p>
    </div>
  );
}
