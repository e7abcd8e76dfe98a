/** Quoted where needed, and marked with `'` where a spreadsheet would run the text as a formula. */
export function csvCell(text: string): string {
  const isFormula =
    /^[=+\-@\t\r]/.test(text) && !/^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
