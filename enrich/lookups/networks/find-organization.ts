import { compareAs } from "./organization-name.js";
import type { Organization } from "./parse-organizations.js";

/** Finds organizations in tables of which an earlier one comes before a later one. */
export interface Organizations {
  /** The owner of an AS: by its number, then by its name. */
  ofOwner(asn: number, name: string): Organization | undefined;
  ofName(name: string): Organization | undefined;
}

/**
 * A name costs one lookup per word, however many organizations there are. A whole name comes before one of which more
 * words follow, and of those the longest.
 */
export function openOrganizations(tables: readonly (readonly Organization[])[]): Organizations {
  const indexes = tables.map(indexTable);
  return {
    ofOwner(asn, name) {
      for (const index of indexes) {
        const found = index.byNumber.get(asn) ?? findName(index, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    ofName(name) {
      for (const index of indexes) {
        const found = findName(index, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

interface Index {
  byNumber: ReadonlyMap<number, Organization>;
  byName: ReadonlyMap<string, Organization>;
  /** Words of the longest name that others may follow. */
  wordsMax: number;
}

function indexTable(rows: readonly Organization[]): Index {
  const byNumber = new Map<number, Organization>();
  const byName = new Map<string, Organization>();
  let wordsMax = 0;
  for (const row of rows) {
    for (const number of row.numbers) byNumber.set(number, row);
    for (const name of row.match) {
      byName.set(name, row);
      if (name.endsWith(" *")) wordsMax = Math.max(wordsMax, name.split(" ").length - 1);
    }
  }
  return { byNumber, byName, wordsMax };
}

function findName({ byName, wordsMax }: Index, name: string): Organization | undefined {
  if (name === "" || byName.size === 0) return undefined;
  const { words, core } = compareAs(name);
  const whole = byName.get(words.join(" ")) ?? byName.get(core);
  if (whole !== undefined) return whole;
  for (let count = Math.min(words.length, wordsMax); count > 0; count--) {
    const found = byName.get(`${words.slice(0, count).join(" ")} *`);
    if (found !== undefined) return found;
  }
  return undefined;
}
