import { useVisit } from "./page.js";
import { Button } from "./parts/form.js";
import { PageHead } from "./parts/panel.js";
import type { Form } from "./read-form.js";

/** In place of a form's answer where the session has ended meanwhile: what was typed can be sent once more. */
export function SendAgain({ form }: { form: Form }) {
  const { ctx, href } = useVisit();
  return (
    <div class="sign-in">
      <PageHead title="You are signed out" about="Nothing was saved. What you typed is kept on this page." />
      <p>
        1.{" "}
        <a class="button" href={href("/sign-in")} target="_blank" rel="noopener">
          Sign in, in a new tab
        </a>
      </p>
      <form method="post" action={`${ctx.state.publicBase}${ctx.url}`} class="form">
        {keptFields(form).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <p>
          2. <Button>Send it again</Button>
        </p>
      </form>
      <p class="soft small">Passwords, tokens and files are not kept: you are asked for them again.</p>
    </div>
  );
}

/** Somebody typed or chose something, and did not only press a button. */
export function isWorthKeeping(form: Form): boolean {
  return keptFields(form).some(([name]) => name !== "action");
}

/** A page must not contain secrets. The target of a notification may be the address of a chat, which is one. */
function keptFields(form: Form): [name: string, value: string][] {
  return form.fields.filter(([name]) => !isSecret(name));
}

export function isSecret(name: string): boolean {
  return /password|secret|token|^(?:key|wanted|present|target)$/i.test(name);
}
