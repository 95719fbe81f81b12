import type { ComponentChildren } from "preact";
import type { Submitted, Visit } from "../../web/page.js";
import type { Form } from "../../web/read-form.js";

export interface AccountSection<Data = unknown> {
  load: (visit: Visit) => Promise<Data> | Data;
  render: (data: Data, visit: Visit) => ComponentChildren;
  /** By the `action` of its forms. */
  forms: Readonly<Record<string, (visit: Visit, form: Form) => Promise<Submitted>>>;
}

/** Keeps the type of the data between `load` and `render`. */
export function section<Data>(described: AccountSection<Data>): AccountSection {
  return described as unknown as AccountSection;
}
