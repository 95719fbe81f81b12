import { type Registry, TEXT, WHOLE, compileAnswer, fieldsOf, listOf, publishedOn } from "./registry.js";

interface Version {
  number: string;
  platform?: string;
  downloads_count: number;
  created_at?: string | null;
}

const FIELDS = {
  number: TEXT,
  platform: TEXT,
  downloads_count: WHOLE,
  created_at: { type: ["string", "null"] },
};
const read = compileAnswer<Version[]>(listOf(fieldsOf(FIELDS, ["platform", "created_at"]), 10_000));

/**
 * Downloads of each version since it exists: days are differences. No history.
 * Source: https://guides.rubygems.org/rubygems-org-api/#gem-version-methods
 */
export const rubygems: Registry = {
  url: "https://rubygems.org",
  title: "RubyGems",
  noun: "gem",
  name: { pattern: /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/, example: "rails" },
  pageOf: (name) => `https://rubygems.org/gems/${name}`,
  pages: [{ hosts: ["rubygems.org"], path: /^\/gems\/([^/]+)/ }],
  ask: ({ name }) => [{ path: `/api/v1/versions/${name}.json` }],
  read(answer, _, { name }) {
    const versions = read(answer);
    return {
      counters: versions.map(({ number, platform = "ruby", downloads_count: value }) => ({
        key: `${number} ${platform}`,
        version: number,
        metric: "downloads",
        value,
      })),
      releases: versions.flatMap(({ number: version, created_at: at }) => {
        const date = publishedOn(at);
        const url = `https://rubygems.org/gems/${name}/versions/${encodeURIComponent(version)}`;
        return date === undefined ? [] : [{ version, date, url, key: `rubygems ${name} ${version}` }];
      }),
    };
  },
};
