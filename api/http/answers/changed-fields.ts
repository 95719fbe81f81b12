/** The fields of `after` that differ from `before`; a removed field is null. */
export function changedFields(before: object, after: object): Record<string, unknown> {
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  const changed = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]));
  return Object.fromEntries(changed.map((name) => [name, fresh[name] ?? null]));
}
