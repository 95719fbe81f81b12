/** Posts the secret of a sign-in link and takes it out of the address, where the history would keep it. */
export function openLink(): void {
  const field = document.querySelector<HTMLInputElement>("#open-key");
  const [, key] = /^#key=([\w-]+)$/.exec(location.hash) ?? [];
  if (field === null || key === undefined) return;
  history.replaceState(null, "", location.pathname);
  field.value = key;
  field.form?.requestSubmit();
}
