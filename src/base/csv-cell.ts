/**
 * Cells of CSV that people open in a spreadsheet: what others wrote must stay text there (EV-97).
 */

/** A text as a cell: quoted where needed, and marked with `'` where a spreadsheet would take it for a formula. */
export function csvCell(text: string): string {
  const isFormula =
    /^[=+\-@\t\r]/.test(text) && !/^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
