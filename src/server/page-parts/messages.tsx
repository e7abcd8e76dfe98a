/**
 * What a page says to the person in front of it: why something was refused, what was just done. Both are read out.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

interface MessageProps {
  /** A sentence; null for nothing to say. */
  readonly text: string | null;
}

/** Why something did not work. */
export function Problem({ text }: MessageProps) {
  if (text === null) return '';
  return (
    <p class="problem" role="alert" safe>
      {text}
    </p>
  );
}

/** What was done. */
export function Notice({ text }: MessageProps) {
  if (text === null) return '';
  return (
    <p class="notice" role="status" safe>
      {text}
    </p>
  );
}
