import { guessFormat } from "../../../schemas/records/guess-format.js";
import { fileNameOf } from "../../../schemas/records/file-name.js";
import { formatSize } from "../../../schemas/records/format-size.js";
import { packFile, readSample, newKey, sendBody } from "./send-body.js";
import { dryRun, showReport } from "./upload-report.js";

interface Upload {
  imports: string;
  file: File | undefined;
  /** Stays the same for a file until it is imported, so that trying again imports it once. */
  key: string;
  sending: AbortController | undefined;
  /** By hand, since the file was chosen. */
  isFormatChosen: boolean;
}

const TYPING_MS = 400;

export function addUpload(): void {
  const root = document.querySelector<HTMLElement>("[data-upload]");
  if (root === null) return;
  const upload: Upload = {
    imports: root.dataset["upload"] ?? "",
    file: undefined,
    key: newKey(),
    sending: undefined,
    isFormatChosen: false,
  };
  const { input, target, drop, stop, form, format, path, start } = partsOf(root);
  start.disabled = true;
  const choose = (file: File | undefined) => {
    if (file === undefined || upload.sending !== undefined) return;
    upload.isFormatChosen &&= upload.file === undefined;
    upload.file = file;
    lookAgain();
  };
  const lookAgain = () => {
    upload.key = newKey();
    showPath(root);
    if (upload.file !== undefined) void look(root, upload.file, upload);
  };
  input.addEventListener("change", () => choose(input.files?.[0]));
  target.addEventListener("change", () => {
    showCommands(root);
    lookAgain();
  });
  format.addEventListener("change", () => {
    upload.isFormatChosen = true;
    lookAgain();
  });
  let typing = 0;
  path.addEventListener("input", () => {
    window.clearTimeout(typing);
    typing = window.setTimeout(lookAgain, TYPING_MS);
  });
  showPath(root);
  addDropping(drop, choose);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(root, upload);
  });
  stop.addEventListener("click", () => upload.sending?.abort());
  window.addEventListener("beforeunload", (event) => {
    if (upload.sending !== undefined) event.preventDefault();
  });
  // A file may have been chosen before this script was there.
  choose(input.files?.[0]);
}

/** The commands below name what is chosen. */
function showCommands(root: HTMLElement): void {
  const commands = document.querySelector<HTMLElement>("[data-upload-commands]");
  const chosen = partsOf(root).target.selectedOptions[0]?.dataset;
  if (commands === null || chosen?.["path"] === undefined) return;
  const { path = "", id = "" } = commands.dataset;
  const next = { path: chosen["path"], id: chosen["id"] ?? id };
  for (const code of commands.querySelectorAll("code"))
    code.textContent = (code.textContent ?? "").replace(path, next.path).replace(`/${id} `, `/${next.id} `);
  Object.assign(commands.dataset, next);
  const log = commands.querySelector<HTMLElement>("[data-upload-log-command]");
  if (log !== null) log.hidden = chosen["id"] === undefined;
}

function partsOf(root: HTMLElement) {
  const find = <Kind extends HTMLElement>(selector: string) => root.querySelector(selector) as Kind;
  return {
    form: find<HTMLFormElement>("form"),
    input: find<HTMLInputElement>("#upload-file"),
    target: find<HTMLSelectElement>("#upload-target"),
    format: find<HTMLSelectElement>("#upload-format"),
    path: find<HTMLInputElement>("#upload-path"),
    pathField: find<HTMLElement>("[data-upload-path]"),
    drop: find<HTMLElement>("[data-upload-drop]"),
    name: find<HTMLElement>("[data-upload-name]"),
    start: find<HTMLButtonElement>("[data-upload-start]"),
    stop: find<HTMLButtonElement>("[data-upload-stop]"),
    bar: find<HTMLProgressElement>("[data-upload-bar]"),
    state: find<HTMLElement>("[data-upload-state]"),
    report: find<HTMLElement>("[data-upload-report]"),
  };
}

function addDropping(drop: HTMLElement, choose: (file: File | undefined) => void): void {
  // A file that misses the box would replace the page.
  for (const type of ["dragover", "drop"]) document.addEventListener(type, (event) => event.preventDefault());
  drop.addEventListener("dragenter", () => drop.classList.add("over"));
  drop.addEventListener("dragleave", (event) => {
    if (!drop.contains(event.relatedTarget as Node | null)) drop.classList.remove("over");
  });
  drop.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    choose(event.dataTransfer?.files[0]);
  });
}

function isLog(root: HTMLElement): boolean {
  return partsOf(root).format.selectedOptions[0]?.dataset["log"] !== undefined;
}

function showPath(root: HTMLElement): void {
  partsOf(root).pathField.hidden = !isLog(root);
}

/** The operation with the chosen format, and the path where it has one. */
function addressOf(root: HTMLElement): URL {
  const { target, format, path } = partsOf(root);
  const url = new URL(target.value, location.href);
  url.searchParams.set("format", format.value);
  if (isLog(root) && path.value !== "") url.searchParams.set("path", path.value);
  return url;
}

/** The list of imports shows the name of the file. */
function named(url: URL, file: File): URL {
  const name = fileNameOf(file.name);
  if (name !== undefined) url.searchParams.set("name", name);
  return url;
}

/** The latest look is shown, whichever answer comes last. */
let looks = 0;

async function look(root: HTMLElement, file: File, { isFormatChosen }: Upload): Promise<void> {
  const mine = ++looks;
  const { format, name, start, report, state, target } = partsOf(root);
  name.textContent = `${file.name}, ${formatSize(file.size)}`;
  state.textContent = "";
  start.disabled = true;
  start.textContent = "Import";
  if (file.size === 0) return void (report.textContent = "The file is empty.");
  if (target.value === "") return void (report.textContent = "Choose a package or pixel to import into.");
  report.textContent = "Checking the first lines…";
  try {
    const sample = await readSample(file);
    if (sample !== undefined && !isFormatChosen) format.value = guessFormat(sample.text) ?? "ndjson";
    showPath(root);
    const found = sample && (await dryRun(addressOf(root), sample));
    if (mine !== looks) return;
    showReport(report, sample, found);
    start.disabled = found?.events_successfully_imported === 0;
    start.textContent = `Import ${formatSize(file.size)}`;
  } catch (error) {
    if (mine === looks) report.textContent = `The file can't be previewed: ${sentence(error)}`;
  }
}

async function send(root: HTMLElement, upload: Upload): Promise<void> {
  const { start, stop, bar, state, target, input, format, path } = partsOf(root);
  const { file } = upload;
  if (file === undefined || upload.sending !== undefined) return;
  const sending = new AbortController();
  upload.sending = sending;
  const show = (text: string, share?: number) => {
    if (state.textContent !== text) state.textContent = text;
    if (share === undefined) bar.removeAttribute("value");
    else bar.value = share;
  };
  setBusy(true);
  try {
    const packed = await packFile(file, (read) => show("Compressing…", read / file.size));
    sending.signal.throwIfAborted();
    const onSent = (share: number) => (share < 1 ? show("Uploading…", share) : show("Saving…"));
    const id = await sendBody({
      url: named(addressOf(root), file).href,
      packed,
      key: upload.key,
      onSent,
      signal: sending.signal,
    });
    upload.sending = undefined;
    location.assign(`${upload.imports}/${id}`);
  } catch (error) {
    upload.sending = undefined;
    setBusy(false);
    state.textContent = sending.signal.aborted ? "Upload stopped. Nothing was imported." : sentence(error);
  }

  function setBusy(isBusy: boolean): void {
    start.disabled = isBusy;
    target.disabled = isBusy;
    format.disabled = isBusy;
    path.disabled = isBusy;
    input.disabled = isBusy;
    stop.hidden = !isBusy;
    bar.hidden = !isBusy;
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
