import type { DigestData } from "../../../schemas/contracts/notification-event.js";

/** Names that would be markup, mentions or other lines somewhere. */
export const HOSTILE = [
  "<script>alert(1)</script>\"'&amp;",
  "<!channel> <@U1|x> <https://evil.example|click>",
  "@everyone @channel @here",
  "[click](https://evil.example) **bold** __u__ ~~s~~ ||spoiler||",
  "``` \n# heading\n> quote `code`",
  "line\r\nBcc: other@example.org\u2028next",
  "\u202Egnp.exe\u202C \u0000\u001b[31mred\u200b",
  "https://evil.example/?a=1&b=2",
  `${"long ".repeat(2_000)}`,
] as const;

export const DIGEST: DigestData = {
  start_date: "2026-11-16",
  end_date: "2026-11-23",
  complete_through: "2026-11-23T00:15:00.000000Z",
  correction: false,
  totals: { downloads: 5_259, views: 0, unique_addresses: 2_101, companies: 41 },
  before: { downloads: 4_210, views: 0, unique_addresses: 1_890, companies: 39 },
  series: [812, 790, 901, 850, 866, 512, 528].map((downloads, day) => ({
    date: `2026-11-${16 + day}`,
    downloads,
    views: 0,
  })),
  packages: [
    { name: "acme/web", downloads: 4_100, before: 3_300 },
    { name: "@acme/tool-with-a-rather-long-name", downloads: 1_120, before: 910 },
    { name: "acme-cli", downloads: 39, before: 0 },
  ],
  countries: [
    { country: "DE", downloads: 2_010 },
    { country: "US", downloads: 1_633 },
    { country: "KR", downloads: 402 },
  ],
  versions: [],
  new_companies: 7,
  companies: [
    { name: "Mercedes-Benz", domain: "mercedes-benz.com", downloads: 210 },
    { name: "Google", domain: "google.com", downloads: 44 },
    { name: "University of Göttingen", domain: "uni-goettingen.de", downloads: 3 },
  ],
};

/** With the text wherever a message has a text of others. */
export function digestOf(text: string): DigestData {
  return {
    ...DIGEST,
    package: text,
    packages: [{ name: text, downloads: 5, before: 0 }],
    countries: [{ country: text, downloads: 5 }],
    versions: [{ version: text, downloads: 5 }],
    companies: [{ name: text, domain: text, downloads: 5 }],
  };
}
