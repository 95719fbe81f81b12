import type { ComponentChildren } from "preact";
import { useVisit } from "../page.js";
import { Form } from "./form.js";

interface ButtonProps {
  kind?: "primary" | "plain" | "danger" | "quiet";
  name?: string;
  value?: string;
  disabled?: boolean;
  children: ComponentChildren;
}

/** Submits the form that it is in. */
export function Button({ kind = "primary", children, ...attributes }: ButtonProps) {
  return (
    <button type="submit" class={kind} {...attributes}>
      {children}
    </button>
  );
}

interface ConfirmProps {
  /** The form's `action`. */
  action: string;
  /** The text of the first button: "Delete". */
  label: string;
  /** The consequence, in a sentence or two. */
  question: ComponentChildren;
  /** Fields of the form: hidden ones, or a name to type. */
  children?: ComponentChildren;
}

/** A button that asks first. It opens without script; only the second button does anything. */
export function ConfirmButton({ action, label, question, children }: ConfirmProps) {
  const { refused } = useVisit();
  return (
    <details class="confirm" open={refused?.form.action === action}>
      <summary class="button">{label}</summary>
      <Form action={action} class="form box">
        <p>{question}</p>
        {children}
        <Button kind="danger">{label}</Button>
      </Form>
    </details>
  );
}

interface CopyLineProps {
  /** The name of the text, for screen readers: "The badge in Markdown". */
  label: string;
  text: string;
}

/** A line or block to copy. The button appears where scripts run (`script/controls.ts`). */
export function CopyLine({ label, text }: CopyLineProps) {
  return (
    <div class="copy">
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" class="small" data-copy hidden aria-label={`Copy: ${label}`}>
        Copy
      </button>
    </div>
  );
}
