interface CopyLineProps {
  /** The name of the text, for screen readers: "The badge in Markdown". */
  label: string;
  text: string;
}

/** A line or block to copy. The button appears where scripts run (`script/copy.ts`). */
export function CopyLine({ label, text }: CopyLineProps) {
  return (
    <div class="copy">
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" class="small" data-copy hidden aria-label={`Copy: ${label}`}>
        Copy
      </button>
    </div>
  );
}
