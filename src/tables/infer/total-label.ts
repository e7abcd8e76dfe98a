/** What stands before the sums in a row of totals, in the languages of Excel. */
const LABEL =
  /^(?:grand |sub)?(?:totals?|sum|summe|zwischensumme|gesamt|gesamtsumme|gesamtergebnis|insgesamt|totale|somma|somme|total g[eé]n[eé]ral|suma|summa|totaal|totalt|sammanlagt|i alt|yhteensä|razem|celkem|spolu|összesen|ukupno|toplam|итого|всего|合計|合计|总计)\s*:?$/i;

export function isTotalLabel(text: string): boolean {
  return LABEL.test(text.trim());
}
