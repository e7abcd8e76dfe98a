/**
 * A moment in a page: in UTC, and with script in the reader's zone and way of writing.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

interface UtcTimeProps {
  /** A DS-16 time; null for none. */
  readonly at: string | null;
  /** Instead of none. */
  readonly none?: string;
  /** With script as a distance from now, such as `3 minutes ago`. */
  readonly isRelative?: boolean;
  /** To the second instead of the minute. */
  readonly isExact?: boolean;
}

/** The moment. */
export function UtcTime({ at, none = 'never', isRelative = false, isExact = false }: UtcTimeProps) {
  if (at === null) return <span safe>{none}</span>;
  return (
    <time class={isRelative ? 'relative' : undefined} datetime={at} safe>
      {`${at.slice(0, isExact ? 19 : 16).replace('T', ' ')} UTC`}
    </time>
  );
}
