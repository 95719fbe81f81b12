import { Problem, type ProblemCode } from "../../../schemas/problem.js";

/**
 * How much each may have: packages, pixels, webhooks, sources and notifications an owner; organizations (that it made) and additional tokens an
 * account; domains and routes a package. A lowered quota takes nothing from those who have more.
 */
export const DEFAULT_QUOTAS = {
  packages: 10_000,
  pixels: 10_000,
  organizations: 1_000,
  webhooks: 20,
  sources: 500,
  annotations: 5_000,
  notifications: 100,
  tokens: 100,
  domains: 100,
  /** Every request may have to try each of them. */
  routes: 200,
};

export type Quotas = Readonly<typeof DEFAULT_QUOTAS>;
type Counted = keyof Quotas;

export const QUOTA_PROBLEMS = {
  packages: "too-many-packages",
  pixels: "too-many-pixels",
  organizations: "too-many-organizations",
  webhooks: "too-many-webhooks",
  sources: "too-many-sources",
  annotations: "too-many-annotations",
  notifications: "too-many-notifications",
  tokens: "too-many-tokens",
  domains: "too-many-domains",
  routes: "too-many-routes",
} as const satisfies Record<Counted, ProblemCode>;

/**
 * Refuses one more. Count with the owner, account or package locked, so that concurrent creations see each other.
 * @throws Problem too-many-...
 */
export function requireRoom(
  quotas: Quotas,
  counted: Counted,
  { name, count }: { name: string; count: number },
): void {
  const max = quotas[counted];
  if (count < max) return;
  throw new Problem(
    QUOTA_PROBLEMS[counted],
    `${name} has ${count} ${counted}, and the limit is ${max}. ` +
      `${REMEDIES[counted] ?? "Delete one first"}, or ask the operator of this service for a higher limit.`,
  );
}

const REMEDIES: Partial<Record<Counted, string>> = {
  organizations: "Use an existing organization",
  tokens: "Revoke one first",
};

/** `packages=5000,pixels=200`, in any order; the others stay as they are. Undefined for anything else. */
export function parseQuotas(text: string): Quotas | undefined {
  const quotas: Record<string, number> = { ...DEFAULT_QUOTAS };
  for (const part of text.split(",")) {
    const [, name = "", max] = /^\s*([a-z]+)\s*=\s*(\d{1,9})\s*$/.exec(part) ?? [];
    if (max === undefined || !Object.hasOwn(DEFAULT_QUOTAS, name)) return undefined;
    quotas[name] = Number(max);
  }
  return quotas as Quotas;
}
