import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { UserV1 } from "../../schemas/contracts/user.js";
import type { Problem } from "../../schemas/problem.js";
import type { ApiContext } from "../base/http/route.js";
import type { Query } from "./address.js";
import type { ApiCall } from "./call-api.js";
import type { Form, FormLimits } from "./read-form.js";

/**
 * One page of the dashboard. To add one, write `pages/<subject>/<name>-page.tsx` and list it in `pages.ts`:
 *
 *     export const greetingPage = page({
 *       path: "/o/:owner/greeting",
 *       section: "overview",
 *       load: ({ api, owner }) => api<Greeting>({ path: path`/v2/${owner.name}/greeting` }),
 *       title: (greeting) => greeting.title,
 *       render: (greeting) => (
 *         <Form action="rename">
 *           <Field name="title" label="Title" value={greeting.title} />
 *           <Button>Rename</Button>
 *         </Form>
 *       ),
 *       async submit({ api, owner, href }, form) {
 *         await api({ method: "PUT", path: path`/v2/${owner.name}/greeting`, body: { title: form.text("title") } });
 *         return { to: href(path`/o/${owner.name}/greeting`, { notice: "renamed" }) };
 *       },
 *       notices: { renamed: "The greeting has a new title." },
 *     });
 *
 * A page reads and writes only through `api`, an operation of this service's own API. A Problem that `load` throws
 * becomes an error page with its status. A Problem below 500 that `submit` throws shows the page again with the values
 * that were sent and each fault beside its field; the field's name is the last part of the fault's path.
 * Components find the request by `useVisit()`. Links are made by `href`, never written out, because the service may be
 * below a path prefix. The policy allows no inline style or script and no style attribute: use classes, and attributes
 * of SVG.
 */
export interface Page<Data = unknown> {
  /** `/dashboard` by default. */
  root?: "/dashboard" | "/docs";
  /** Below the root, with parameters as in `api/base/http/route.ts`. `:owner` is looked up before `load`. */
  path: string | string[];
  section?: Section;
  /** Shown without a session, such as sign-in. */
  isOpen?: true;
  load: (visit: Visit) => Promise<Data> | Data;
  title: (data: Data, visit: Visit) => string;
  render: (data: Data, visit: Visit) => ComponentChildren;
  /** What its forms may send: By default `FORM_LIMITS`, `BODY_LIMITS` where anybody may send them, and no files. */
  forms?: Partial<FormLimits>;
  /** Takes the page's forms, which are POSTed to its own path. `form.action` says which one it is. */
  submit?: (visit: Visit, form: Form) => Promise<Submitted>;
  /** Sentences by the value of `?notice=`, for the page after a form. */
  notices?: Notices | ((data: Data) => Notices);
}

type Notices = Readonly<Record<string, string>>;

export type Section = "overview" | "live" | "companies" | "imports" | "webhooks" | "settings" | "account";

/** After a form: a redirect to an address made by `href`, or the page itself with something that is shown only once. */
export type Submitted = { to: string } | { shown: unknown };

export interface Visit {
  /** For cookies and headers; bodies and answers are the dashboard's. */
  ctx: ApiContext;
  /** Throws on an open page without a session; see `known`. */
  readonly user: Viewer;
  /** The owner that `:owner` in the path names. Throws on a page without it. */
  readonly owner: VisitedOwner;
  /** The same where they are known: for the frame, and for pages that are open or failed. */
  known: { user?: Viewer; owner?: VisitedOwner };
  param: (name: string) => string;
  query: URLSearchParams;
  /** The path below `/dashboard`, as `href` takes it. */
  here: string;
  api: <Answer>(call: ApiCall) => Promise<Answer>;
  /** The address of a page by its path below `/dashboard`: href(path`/o/${owner}`, { notice: "saved" }). */
  href: (pathname: string, query?: Query) => string;
  /** The address of a file in `assets/` or `script/`, by its content. */
  asset: (name: string) => string;
  refused?: { form: Form; problem: Problem };
  /** The value that `submit` gave to show once. */
  shown?: unknown;
}

export type Viewer = Omit<UserV1, "token">;

export interface VisitedOwner {
  /** As it was written when it was made. */
  name: string;
  kind: "user" | "organization";
  /** `none`: the viewer may have a level on single packages. */
  role: "owner" | "admin" | "member" | "none";
  /** Whether the viewer gets files and CSV: the export is granted, and the role covers it. */
  mayExport: boolean;
}

/** Keeps the type of the data between `load` and `render`. */
export function page<Data>(described: Page<Data>): Page {
  return described as unknown as Page;
}

export const VisitContext = createContext<Visit | undefined>(undefined);

export function useVisit(): Visit {
  const visit = useContext(VisitContext);
  if (visit === undefined) throw new Error("rendered outside of a page");
  return visit;
}

export function mayManage({ role }: VisitedOwner): boolean {
  return role === "owner" || role === "admin";
}
