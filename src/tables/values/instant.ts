/**
 * Moments as text that sorts by time. Parquet shows `2024-01-01T00:00:00[.fff][Z]`, dates alone, and spaces instead
 * of `T`. Without a zone the text is UTC.
 */

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})?)?$/;

/** `YYYY-MM-DDTHH:MM:SS.nnnnnnnnn` in UTC; null for other text. Years 0000 to 9999, at most nine digits of fraction. */
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
