import { path } from "../../web/address.js";
import { mayManage, useVisit } from "../../web/page.js";
import { Tabs } from "../../web/parts/panel.js";

export type SettingsTab =
  | "members"
  | "organization"
  | "packages"
  | "annotations"
  | "sources"
  | "notifications"
  | "audit";

export function SettingsTabs({ current }: { current: SettingsTab }) {
  const { owner, href } = useVisit();
  const isOrganization = owner.kind === "organization" && owner.role !== "none";
  const tabs: { name: SettingsTab; label: string; end: string; isShown: boolean }[] = [
    { name: "members", label: "Members", end: "", isShown: isOrganization },
    { name: "organization", label: "Organization", end: "/organization", isShown: isOrganization },
    { name: "packages", label: "Packages", end: "/packages", isShown: true },
    { name: "annotations", label: "Annotations", end: "/annotations", isShown: owner.role !== "none" },
    { name: "sources", label: "Registry counts", end: "/sources", isShown: owner.role !== "none" },
    { name: "notifications", label: "Notifications", end: "/notifications", isShown: mayManage(owner) },
    { name: "audit", label: "Audit log", end: "/audit", isShown: mayManage(owner) },
  ];
  return (
    <Tabs
      label="Settings"
      tabs={tabs
        .filter(({ isShown }) => isShown)
        .map(({ name, label, end }) => ({
          label,
          href: href(path`/o/${owner.name}/settings` + end),
          isCurrent: name === current,
        }))}
    />
  );
}
