/**
 * Moments as text that sorts by time, for date-time columns (DS-53): Parquet displays `2024-01-01T00:00:00[.fff][Z]`,
 * dates alone and spaces instead of `T`; callers write any RFC 3339 form. A text without a zone is taken as UTC.
 */

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})?)?$/;

/**
 * The moment in UTC as `YYYY-MM-DDTHH:MM:SS.nnnnnnnnn`, or null when the text is none. Years are 0000 to 9999 and
 * fractions have at most nine digits.
 */
export function instantOf(text: string): string | null {
  const match = MOMENT.exec(text);
  if (!match) return null;
  const [, date = '', time = '00:00:00', fraction = '', zone = 'Z'] = match;
  const local = new Date(`${date}T${time}Z`);
  // Date would take 30 February for 1 March.
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== date) return null;
  const iso = new Date(local.getTime() - offsetMinutes(zone) * 60_000).toISOString();
  return iso.length === 24 ? `${iso.slice(0, 19)}.${fraction.padEnd(9, '0')}` : null;
}

function offsetMinutes(zone: string): number {
  if (zone.length === 1) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return zone.startsWith('-') ? -minutes : minutes;
}
