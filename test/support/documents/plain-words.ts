/** A word or a construction that this project does not use. */
export interface WordPattern {
  name: string;
  /** Global and without case, so that `matchAll` finds each place. */
  regexp: RegExp;
  /** What to write. */
  instead: string;
}

/** At most 25: each stands for a habit, not for one text. For prose without code, and for the program's own texts. */
export const PATTERNS: readonly WordPattern[] = [
  { name: "mend", regexp: /\bmend(?:s|ed|ing)?\b/gi, instead: "fix" },
  { name: "fault", regexp: /\bfaults?\b(?! injection)/gi, instead: "error, bug" },
  { name: "weakness", regexp: /\bweakness(?:es)?\b/gi, instead: "vulnerability" },
  { name: "refuse", regexp: /\brefus(?:e|es|ed|ing|als?)\b/gi, instead: "reject; deny a permission" },
  { name: "anew", regexp: /\banew\b|\bonce more\b/gi, instead: "again" },
  { name: "again and again", regexp: /\bagain and again\b/gi, instead: "repeatedly" },
  { name: "tell apart", regexp: /\b(?:tells?|told|telling) (?:\w+ )?apart\b/gi, instead: "distinguish" },
  {
    name: "tell of",
    regexp: /\b(?:tells?|told) of\b|\bis told\b|\bare told\b/gi,
    instead: "notify about, list",
  },
  { name: "take back", regexp: /\b(?:takes?|taken|took) back\b/gi, instead: "undo" },
  { name: "made up for", regexp: /\bma(?:de|kes?) up for\b/gi, instead: "backfill" },
  { name: "by itself", regexp: /\bby (?:itself|themselves)\b/gi, instead: "automatically, alone" },
  { name: "robots", regexp: /\brobots?\b(?!\.txt)/gi, instead: "bots" },
  {
    name: "day that is not over",
    regexp: /\bdays? that (?:is|are) not over\b/gi,
    instead: "the current day, unfinished days",
  },
  { name: "came of", regexp: /\b(?:came|comes?) of it\b|\bstill to come\b/gi, instead: "result, pending" },
  { name: "nothing of it", regexp: /\b(?:nothing|no more) of it\b|\bas good as\b/gi, instead: "rewrite" },
  {
    name: "of your own",
    regexp: /\bof (?:one's|your) own\b|\bof yours\b|\bone's own\b/gi,
    instead: "your",
  },
  { name: "as many again", regexp: /\b(?:half )?as (?:many|much) again\b/gi, instead: "+50 %" },
  { name: "beside", regexp: /\bbesides?\b/gi, instead: "next to, in addition to" },
  { name: "stand", regexp: /\bstands? (?:still|there|beside)\b/gi, instead: "is stalled, is" },
  {
    name: "make a record",
    regexp:
      /\bma(?:kes?|de|king) (?:(?:a|an|the|one|your|another|first) )+(?:accounts?|tokens?|packages?|organizations?|secrets?|links?|imports?|webhooks?|notifications?|annotations?|pixels?|topics?|users?|keys?)\b/gi,
    instead: "create",
  },
  {
    name: "answer as a noun",
    regexp: /\b(?:an|the|its|this|each|every|no|whose|one|long|of) answers?\b/gi,
    instead: "response, result",
  },
  {
    name: "inverted beginning",
    regexp: /(?:^|[.!?]\s+)(?:Of|Whoever|Who|Whose)\b(?![^.!?]*\?)/g,
    instead: "subject, verb, object",
  },
  { name: "lead to", regexp: /\bleads? (?:on )?to\b/gi, instead: "points to, redirects to" },
  {
    name: "may for can",
    regexp: /\bmay (?:take|be as|have (?:a|an|at|up)\b|have \d)/gi,
    instead: "can; at most",
  },
  { name: "earlier ones", regexp: /\b(?:earlier|later) ones\b|\bof before\b/gi, instead: "earlier lines" },
];
