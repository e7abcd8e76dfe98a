/** @jsxImportSource @kitajs/html */
/**
 * Screen readers announce both.
 */

interface MessageProps {
  /** Null renders nothing. */
  readonly text: string | null;
}

export function Problem({ text }: MessageProps) {
  if (text === null) return '';
  return (
    <p class="problem" role="alert" safe>
      {text}
    </p>
  );
}

export function Notice({ text }: MessageProps) {
  if (text === null) return '';
  return (
    <p class="notice" role="status" safe>
      {text}
    </p>
  );
}
