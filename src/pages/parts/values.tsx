/** @jsxImportSource @kitajs/html */
/** Figures, sizes and times. With script they are in the format and the zone of the reader. */
import type { PropsWithChildren } from '@kitajs/html';
import { sizeText } from '../../base/text/size-text.ts';

export function Count({ value }: { value: number }) {
  return (
    <data class="count" value={String(value)} safe>
      {String(value)}
    </data>
  );
}

/** `1.5 MiB`. */
export function Size({ bytes }: { bytes: number }) {
  return (
    <data class="size" value={String(bytes)} safe>
      {sizeText(bytes)}
    </data>
  );
}

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

/** Of a `dl` of facts. */
export function Fact({ name, children }: PropsWithChildren<{ name: string }>) {
  return (
    <div>
      <dt safe>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Facts({ facts }: { facts: readonly { name: string; text: string }[] }) {
  return (
    <>
      {facts.map(({ name, text }) => (
        <Fact name={name}>
          <span safe>{text}</span>
        </Fact>
      ))}
    </>
  );
}
