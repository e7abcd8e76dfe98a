/**
 * Time zones by their names, and the clocks of their places.
 */

/** Clocks change at whole quarters of an hour, in named places since 1972. */
const QUARTER_MS = 900_000;
const MAX_KNOWN = 100_000;
/** A day less than the range of the runtime's dates around 1970. */
const MAX_MS = 8.64e15 - 86_400_000;
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** An IANA zone or a fixed offset. */
export class TimeZone {
  /** As its caller wrote it. */
  readonly name: string;
  readonly #offsetAt: (utcMs: number) => number;

  private constructor(name: string, offsetAt: (utcMs: number) => number) {
    this.name = name;
    this.#offsetAt = offsetAt;
  }

  static readonly UTC = new TimeZone('UTC', () => 0);

  /** `UTC`, `±HH:MM` or a name such as `Europe/Vienna`; null for anything else. */
  static named(name: string): TimeZone | null {
    if (name === 'UTC') return TimeZone.UTC;
    const fixed = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/.exec(name);
    if (fixed !== null) {
      const ms = (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
      const offset = fixed[1] === '-' ? -ms : ms;
      return new TimeZone(name, () => offset);
    }
    const offsetAt = NAME.test(name) ? offsetsOf(name) : null;
    return offsetAt && new TimeZone(name, offsetAt);
  }

  get isUtc(): boolean {
    return this === TimeZone.UTC;
  }

  /** Milliseconds ahead of UTC. */
  offsetAt(utcMs: number): number {
    return this.#offsetAt(utcMs);
  }

  /** As milliseconds of a UTC clock that shows the same. */
  toLocal(utcMs: number): number {
    return utcMs + this.#offsetAt(utcMs);
  }

  /** The first moment the clocks show that; skipped times count on from the change. */
  toUtc(localMs: number): number {
    const before = this.#offsetAt(localMs - 86_400_000);
    const after = this.#offsetAt(localMs + 86_400_000);
    const early = localMs - Math.max(before, after);
    if (this.toLocal(early) === localMs) return early;
    const late = localMs - Math.min(before, after);
    return this.toLocal(late) === localMs ? late : localMs - before;
  }
}

/** Null when there is no such zone. */
function offsetsOf(name: string): ((utcMs: number) => number) | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // No such zone.
    return null;
  }
  const known = new Map<number, number>();
  return (utcMs) => {
    // No calendar goes there.
    if (!(Math.abs(utcMs) <= MAX_MS)) return 0;
    const quarter = Math.floor(utcMs / QUARTER_MS);
    const found = known.get(quarter);
    if (found !== undefined) return found;
    const offset = offsetIn(format, quarter * QUARTER_MS);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(quarter, offset);
    return offset;
  };
}

function offsetIn(format: Intl.DateTimeFormat, utcMs: number): number {
  const part: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(utcMs)) part[type] = value;
  const year = Number(part['year']);
  const local = new Date(0);
  local.setUTCFullYear(
    part['era'] === 'BC' ? 1 - year : year,
    Number(part['month']) - 1,
    Number(part['day']),
  );
  local.setUTCHours(Number(part['hour']), Number(part['minute']), Number(part['second']));
  return local.getTime() - utcMs;
}
