import type { OrganizationKind } from "./network-facts.js";

/**
 * For organizations that the curated table does not have. The first list with a match wins; without a match
 * it is a business. Correct a wrong guess by a row in `enrich/data/organizations/`.
 */
export function classifyOrganization(name: string): OrganizationKind {
  for (const [kind, words] of WORDS_BY_KIND) {
    if (words.test(name)) return kind;
  }
  return "business";
}

/** English first, then the same in the languages that the registries of addresses hold most of. */
const WORDS_BY_KIND: readonly (readonly [OrganizationKind, RegExp])[] = [
  [
    "education",
    anyOf(
      "universi[a-zéàäã]+",
      "univ",
      "college",
      "schools?",
      "academy",
      "institute of technology",
      "polytechnic",
      "politecnico",
      "hochschule",
      "fachhochschule",
      "ecole",
      "education(al)?",
      "faculdade",
      "instituto federal",
      "[a-z0-9-]+\\.edu(\\.[a-z]{2})?",
      "[a-z0-9-]+\\.ac\\.[a-z]{2}",
    ),
  ],
  [
    "government",
    anyOf(
      "government",
      "governo",
      "gobierno",
      "ministry",
      "ministerio",
      "ministère",
      "ministere",
      "municipality",
      "municipio",
      "prefeitura",
      "parliament",
      "senate",
      "(city|county|state|department|commonwealth) of",
      "air force",
      "dod network information center",
      "[a-z0-9-]+\\.gov(\\.[a-z]{2})?",
      "[a-z0-9-]+\\.mil",
    ),
  ],
  [
    "hosting",
    anyOf(
      "[a-z0-9]*hosting",
      "[a-z0-9]*hoster",
      "[a-z0-9]*host",
      "hosts",
      "data ?cent(er|re)s?",
      "vps",
      "vds",
      "[a-z0-9]*servers?",
      "dedicated",
      "colo(cation)?",
      "[a-z0-9]*clouds?",
      "cdn",
    ),
  ],
  [
    "isp",
    anyOf(
      "[a-z0-9-]*tele(com|kom|com+unica|fon|phon|net|ko)[a-zçõãóê]*",
      "com+unica[a-zçõãóê]*",
      "[a-z]*broadband",
      "cable[a-z]*",
      "mobile?",
      "movil",
      "cellular",
      "gsm",
      "wireless",
      "wi-?fi",
      "[a-z]*fib(er|re|ra)[a-z]*",
      "internet",
      "isps?",
      "satellite",
      "provedor(es)?",
      "banda larga",
      "(?!(?:pla|cabi|mag|bon|intra)net)[a-z0-9]{2,}net",
    ),
  ],
];

/** Matches any of the words, whole and in any case. Each is linear: no repetition within a repetition. */
function anyOf(...words: string[]): RegExp {
  return new RegExp(`(?<![a-z0-9])(?:${words.join("|")})(?![a-z0-9])`, "i");
}
