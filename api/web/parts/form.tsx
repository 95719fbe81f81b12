import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { FieldFault, Problem } from "../../../schemas/problem.js";
import { parseQuery } from "../../base/http/middleware/query.js";
import { type Query, withQuery } from "../address.js";
import { useVisit } from "../page.js";
import { NOTHING_SAVED, type Form as Sent } from "../read-form.js";

/** The form that a field is in. `form` and `problem` are there if it was refused just now. */
const FormContext = createContext<FormState>({ action: "" });

interface FormState {
  action: string;
  form?: Sent;
  problem?: Problem;
}

interface FormProps {
  /** Tells the forms of a page apart: `form.action` in `submit`. */
  action: string;
  /** A page that takes the form in place of the one it is on. */
  to?: string;
  class?: string;
  /** For forms with a file. */
  enctype?: "multipart/form-data";
  children: ComponentChildren;
}

export function Form({ action, to, children, class: kind, enctype }: FormProps) {
  const { here, href, query, refused } = useVisit();
  const mine: FormState = { action, ...(refused?.form.action === action && refused) };
  return (
    <form
      method="post"
      action={to ?? withQuery(href(here), parametersOf(query))}
      class={kind ?? "form"}
      enctype={enctype}
    >
      <input type="hidden" name="action" value={action} />
      {mine.problem && <ProblemBox problem={mine.problem} />}
      <FormContext.Provider value={mine}>{children}</FormContext.Provider>
    </form>
  );
}

/** All but the notice. */
function parametersOf(query: URLSearchParams): Query {
  const { notice: _, ...kept } = parseQuery(query.toString());
  return kept;
}

/** The API's own sentence about a body names its fields as JSON does: a form lists them as its labels do. */
export function ProblemBox({ problem: { code, message, errors = [] } }: { problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <p>{code === "invalid-body" && errors.length > 0 ? NOTHING_SAVED : message}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map((fault) => (
            <li>
              {wordsOf(nameOf(fault))} {fault.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** `billingEmail` as Billing email, `end_date` as End date. */
function wordsOf(name: string): string {
  return capitalised(
    name.replaceAll("_", " ").replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  );
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  /** Unless the form was refused: then it is what was sent. */
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "search" | "date" | "number";
  required?: boolean;
  placeholder?: string | undefined;
  autocomplete?: string;
  pattern?: string;
  rows?: number;
}

/** A labelled field with its hint and its fault. Passwords are not shown again. */
export function Field({ name, label, hint, value, type = "text", rows, ...attributes }: FieldProps) {
  const { id, form, faults } = useField(name);
  const shown = type === "password" ? undefined : form?.has(name) ? form.text(name) : value;
  const about = { id, name, ...attributes, ...describedBy(id, { hint, faults }) };
  const typed: object = { type, value: shown };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input {...about} {...typed} />
      ) : (
        <textarea {...about} rows={rows}>
          {shown}
        </textarea>
      )}
      <Notes id={id} hint={hint} faults={faults} />
    </div>
  );
}

interface SelectProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  options: readonly { value: string; label: string }[];
  value?: string | undefined;
}

export function Select({ name, label, hint, options, value }: SelectProps) {
  const { id, form, faults } = useField(name);
  const chosen = form?.has(name) ? form.text(name) : value;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} {...describedBy(id, { hint, faults })}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === chosen}>
            {option.label}
          </option>
        ))}
      </select>
      <Notes id={id} hint={hint} faults={faults} />
    </div>
  );
}

interface CheckProps {
  name: string;
  label: ComponentChildren;
  /** Sent if it is checked; fields of one name make a list. */
  value?: string;
  checked?: boolean;
}

export function Check({ name, label, value = "on", checked = false }: CheckProps) {
  const { form } = useField(name);
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        value={value}
        checked={form ? form.all(name).includes(value) : checked}
      />
      <span>{label}</span>
    </label>
  );
}

interface FieldState {
  /** Forms of one page may have fields of the same name. */
  id: string;
  form: Sent | undefined;
  faults: readonly FieldFault[];
}

function useField(name: string): FieldState {
  const { action, form, problem } = useContext(FormContext);
  const faults = problem?.errors?.filter((fault) => nameOf(fault) === name) ?? [];
  return { id: `${action}-${name}`, form, faults };
}

/** `/eventKinds/0` is a fault of the field `eventKinds`. */
function nameOf({ path }: FieldFault): string {
  return path.split("/").find((part) => part !== "") ?? "";
}

interface About {
  hint: ComponentChildren;
  faults: readonly FieldFault[];
}

function describedBy(id: string, { hint, faults }: About) {
  const ids = [...(hint === undefined ? [] : [`${id}-hint`]), ...(faults.length > 0 ? [`${id}-fault`] : [])];
  return {
    ...(ids.length > 0 && { "aria-describedby": ids.join(" ") }),
    ...(faults.length > 0 && { "aria-invalid": "true" as const }),
  };
}

function Notes({ id, hint, faults }: About & { id: string }) {
  return (
    <>
      {faults.length > 0 && (
        <p class="fault" id={`${id}-fault`}>
          {capitalised(faults.map(({ message }) => message).join("; "))}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
}

interface ButtonProps {
  kind?: "primary" | "plain" | "danger" | "quiet";
  name?: string;
  value?: string;
  disabled?: boolean;
  children: ComponentChildren;
}

export function Button({ kind = "primary", children, ...attributes }: ButtonProps) {
  return (
    <button type="submit" class={kind} {...attributes}>
      {children}
    </button>
  );
}

interface ConfirmProps {
  action: string;
  label: string;
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
  /** The name of the text, for screen readers: "Badge in Markdown". */
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
