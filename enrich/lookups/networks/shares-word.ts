/** Whether two names can be those of one organization: they share a significant word. */
export function sharesWord(one: string, other: string): boolean {
  const words = new Set(significantWords(one));
  return significantWords(other).some((word) => words.has(word));
}

/** The distinctive words of an organization's name, in lower case and without accents. */
function significantWords(name: string): string[] {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 && !COMMON_WORDS.has(word));
}

/** Legal forms, and words that half of the industry has in its names. */
const COMMON_WORDS = new Set(
  `ab ag as asn bv co company corp corporation gmbh group holding holdings inc incorporated jsc limited llc ltd
   nv oao ooo oy pjsc plc pty pvt sa sas se spa srl the of and for de do da la le
   access backbone broadband cable center centre cloud communication communications data digital global hosting
   information international internet isp mobile national net network networks online service services
   solutions system systems tech technologies technology telecom telecommunication telecommunications
   telekom university wireless`.split(/\s+/),
);
