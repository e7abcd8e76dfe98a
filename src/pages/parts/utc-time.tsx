/** @jsxImportSource @kitajs/html */
/**
 * A time in UTC; with script in the reader's zone and format.
 */

interface UtcTimeProps {
  /** RFC 3339. */
  readonly at: string | null;
  /** Shown when there is no time. */
  readonly none?: string;
  /** With script as a distance from now, such as `3 minutes ago`. */
  readonly isRelative?: boolean;
  /** To the second instead of the minute. */
  readonly isExact?: boolean;
}

export function UtcTime({ at, none = 'never', isRelative = false, isExact = false }: UtcTimeProps) {
  if (at === null) return <span safe>{none}</span>;
  return (
    <time class={isRelative ? 'relative' : undefined} datetime={at} safe>
      {`${at.slice(0, isExact ? 19 : 16).replace('T', ' ')} UTC`}
    </time>
  );
}
