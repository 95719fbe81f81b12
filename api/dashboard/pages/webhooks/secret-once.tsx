import type { ComponentChildren } from "preact";
import { CopyLine } from "../../parts/copy-line.js";

interface SecretOnceProps {
  secret: string;
  title: string;
  children?: ComponentChildren;
}

/** A secret right after it was made: no later page has it. */
export function SecretOnce({ secret, title, children }: SecretOnceProps) {
  return (
    <section class="notice" role="status">
      <h2>{title}</h2>
      <p>
        This is the secret that its requests are signed with. Copy it to your receiver now: it is not shown
        again.
      </p>
      <CopyLine label="The secret" text={secret} />
      {children !== undefined && <p class="actions">{children}</p>}
    </section>
  );
}
