/** Characters of the name of a file that the record of an import keeps. */
export const FILE_NAME_MAX = 200;

const CONTROL = /\p{Cc}/u;

/** Whether an import may have the name: a line of text that is not too long. */
export function isFileName(text: string): boolean {
  return text !== "" && [...text].length <= FILE_NAME_MAX && !CONTROL.test(text);
}

/** The name of a file as an import may have it, without its folders; undefined where nothing is left. */
export function fileNameOf(path: string): string | undefined {
  const [name = ""] = path.split(/[/\\]/).slice(-1);
  const letters = [...name.replace(new RegExp(CONTROL, "gu"), " ").trim()].slice(0, FILE_NAME_MAX);
  return letters.join("") || undefined;
}
