export const ROLES = ["api", "collect", "enrich", "jobs"] as const;
export type Role = (typeof ROLES)[number];

/** Jobs only report the lag of the log. */
export function usesLog(roles: ReadonlySet<Role>): boolean {
  return [...roles].some((role) => role !== "jobs");
}
