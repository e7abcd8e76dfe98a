/** Numbers with a percent sign or a currency: `12 %`, `7,50 €`, `$5`, `EUR 5.00`. */

/** What stands around a number. */
export interface Affixes {
  /** A percent sign, or a currency by its ISO 4217 code. */
  readonly unit: string;
  /** With the space there is; one of the two is empty. */
  readonly prefix: string;
  readonly suffix: string;
}

interface NumberWithUnit extends Affixes {
  readonly number: string;
}

/** The currency most often meant. */
const SIGNS: Readonly<Record<string, string>> = { '€': 'EUR', $: 'USD', '£': 'GBP', '¥': 'JPY' };
const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const SPACE = '[ \\u00a0\\u202f]?';
const SHAPE = new RegExp(
  `^ *(-?)(?:([$€£¥]|[A-Z]{3})(${SPACE}))?(-?\\d[\\d.,'\\u2019 \\u00a0\\u202f]*?)(?:(${SPACE})(%|[$€£¥]|[A-Z]{3}))? *$`,
);
const MAX_LENGTH = 40;

/** Null for any other text. */
export function numberWithUnit(text: string): NumberWithUnit | null {
  const match = text.length > MAX_LENGTH ? null : SHAPE.exec(text);
  if (!match) return null;
  const [, sign = '', before = '', spaceAfter = '', digits = '', spaceBefore = '', after = ''] =
    match;
  if ((before === '') === (after === '') || (sign !== '' && digits.startsWith('-'))) return null;
  const mark = before || after;
  const unit = mark === '%' ? mark : (SIGNS[mark] ?? (CODES.has(mark) ? mark : null));
  if (unit === null) return null;
  return { unit, prefix: before + spaceAfter, suffix: spaceBefore + after, number: sign + digits };
}

const BETWEEN = '\u0000';

/** Equal affixes have equal keys. */
export function affixKey({ prefix, suffix }: Affixes): string {
  return prefix + BETWEEN + suffix;
}

/** The most frequent affixes, of equally frequent ones the longer; null when the values have several units. */
export function affixesOf(units: Readonly<Record<string, number>>): Affixes | null {
  let found: (Affixes & { readonly rows: number }) | null = null;
  for (const [key, rows] of Object.entries(units)) {
    const [prefix = '', suffix = ''] = key.split(BETWEEN);
    const { unit } = numberWithUnit(`${prefix}0${suffix}`) ?? { unit: '' };
    if (found !== null && found.unit !== unit) return null;
    const isLonger = found !== null && rows === found.rows && key.length > affixKey(found).length;
    if (found === null || rows > found.rows || isLonger) found = { unit, prefix, suffix, rows };
  }
  return found && { unit: found.unit, prefix: found.prefix, suffix: found.suffix };
}
