import type { ComponentChildren } from "preact";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { path } from "../../web/address.js";
import { packagesOf } from "../../web/artifacts-of.js";
import type { GuideName } from "../../web/guide-files.js";
import type { Visit } from "../../web/page.js";
import { Button, Form, Select } from "../../web/parts/form.js";
import { EmptyState, PageHead, Panel } from "../../web/parts/panel.js";
import { Pager } from "../../web/parts/table.js";
import type { Form as Sent } from "../../web/read-form.js";
import { type SettingsTab, SettingsTabs } from "./settings-tabs.js";

/** A page of an owner's records, and the packages that they can belong to. */
export interface RecordList<Row> {
  records: readonly Row[];
  next?: string | undefined;
  packages: readonly PackageV1[];
}

/** `tab` is also the name of the list, in its path and in its body. */
export async function loadRecords<Row>(visit: Visit, tab: SettingsTab): Promise<RecordList<Row>> {
  const query = { after: visit.query.get("after") ?? undefined, per_page: 50 };
  const [list, packages] = await Promise.all([
    visit.api<Record<string, Row[]> & { next?: string }>({ path: listOf(visit, tab), query }),
    packagesOf(visit),
  ]);
  return { records: list[tab] ?? [], next: list.next, packages };
}

/** The path of the list in the API. */
export function listOf({ owner }: Pick<Visit, "owner">, tab: SettingsTab): string {
  return path`/v2/${owner.name}/${tab}`;
}

/** The page again, with a notice. */
export function backTo({ href, owner }: Pick<Visit, "href" | "owner">, tab: SettingsTab, notice: string) {
  return { to: href(path`/o/${owner.name}/settings/${tab}`, { notice }) };
}

interface SettingsListProps {
  tab: SettingsTab;
  title: string;
  guide: GuideName;
  about: string;
  /** Above the list. */
  notices?: ComponentChildren;
  list: RecordList<unknown>;
  /** Of the panel around `table`; by default the title. */
  name?: string;
  table: ComponentChildren;
  empty: { title: string; text: string };
  /** Below the list: forms. */
  children: ComponentChildren;
}

export function SettingsList({ tab, title, name = title, list, empty, ...props }: SettingsListProps) {
  return (
    <>
      <PageHead title={title} guide={props.guide} about={props.about} />
      <SettingsTabs current={tab} />
      {props.notices}
      {list.records.length === 0 ? (
        <EmptyState title={empty.title}>
          <p>{empty.text}</p>
        </EmptyState>
      ) : (
        <Panel title={name}>{props.table}</Panel>
      )}
      <Pager next={list.next} />
      {props.children}
    </>
  );
}

interface PackageSelectProps {
  label: string;
  /** The choice of no package. */
  none: string;
  packages: readonly PackageV1[];
  value?: string | undefined;
  hint?: string;
}

export function PackageSelect({ none, packages, ...props }: PackageSelectProps) {
  const options = packages.map(({ uuid, name }) => ({ value: uuid, label: name }));
  return <Select name="package" {...props} options={[{ value: "", label: none }, ...options]} />;
}

export function packageName(packages: readonly PackageV1[], id: string | undefined) {
  return <bdi>{packages.find(({ uuid }) => uuid === id)?.name ?? ""}</bdi>;
}

/** A button that does something with the record at once. */
export function ActionButton({ action, label }: { action: string; label: string }) {
  return (
    <Form action={action}>
      <Button kind="quiet">{label}</Button>
    </Form>
  );
}

/** Does what the forms of a row ask for: `delete ID`, `enable ID` or `disable ID`. */
export async function changeRecord(visit: Visit, form: Sent, tab: SettingsTab): Promise<{ to: string }> {
  const [verb = "", id = ""] = form.action.split(" ");
  const at = listOf(visit, tab) + path`/${id}`;
  if (verb === "delete") {
    await visit.api({ method: "DELETE", path: at });
    return backTo(visit, tab, "deleted");
  }
  await visit.api({ method: "PUT", path: at, body: { enabled: verb === "enable" } });
  return backTo(visit, tab, "changed");
}
