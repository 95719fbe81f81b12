/** Texts of a module that people may read: strings of several words, without comments, SQL and inserted values. */
export function textsOf(source: string): string[] {
  const code = source.replaceAll(COMMENT, (whole, text: string | undefined) =>
    text === undefined ? "" : whole,
  );
  const strings = [...code.matchAll(STRING)].map(([, quoted, template]) => quoted ?? template ?? "");
  const shown = [...code.matchAll(SHOWN)].map(([, text = ""]) => text);
  return [...strings, ...shown]
    .map((text) => text.replaceAll(INSERTED, "…").replaceAll(/\s+/g, " ").trim())
    .filter((text) => SEVERAL_WORDS.test(text) && !SQL.test(text));
}

/** Comments and regular expressions. Strings are matched as well, so that `//` in a URL begins no comment. */
const COMMENT =
  /("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*|(?<=[=(,:[&|?!]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;
const STRING = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
/** Text between the tags of JSX. */
const SHOWN = /(?<![=-])>([^<>{}()=;]*[a-z][^<>{}()=;]*)<\/?[a-zA-Z]/g;
const INSERTED = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;
const SEVERAL_WORDS = /[A-Za-z]{2,} [a-z]{2,}/;
const SQL =
  /\b(?:select|insert into|delete from|update|where|join|order by|group by|alter|create table|exists|coalesce|interval|case when)\b.*\b(?:from|set|values|and|on|by|table|using|end|then|as)\b/i;
