import type { ComponentChildren } from "preact";

interface PageHeadProps {
  title: ComponentChildren;
  /** A line below the title. */
  about?: ComponentChildren;
  /** Buttons and links beside it. */
  children?: ComponentChildren;
}

/** The heading of a page. */
export function PageHead({ title, about, children }: PageHeadProps) {
  return (
    <div class="head">
      <div>
        <h1>{title}</h1>
        {about !== undefined && <p class="soft">{about}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}
