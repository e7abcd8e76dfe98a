/** Values of variables written into texts, each as a value. */

type Values = Readonly<Record<string, string>>;

/** Every text in a value of JSON with `{name}` filled in; a text that is nothing else. */
export function filledValue(value: unknown, values: Values): unknown {
  if (typeof value === 'string')
    return value.replace(/\{([A-Za-z_]\w*)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? values[name]! : whole,
    );
  if (Array.isArray(value)) return value.map((one) => filledValue(one, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, filledValue(one, values)]),
  );
}

/**
 * A query with its values written out, for the explorer, whose address has no parameters: quoted as texts of the
 * language, and escaped inside of texts that are quoted already. `{{name}}` stays the text `{name}`.
 */
export function filledQuery(query: string, values: Values): string {
  const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{\{[^{}]*\}\}|\{([A-Za-z_]\w*)\}/g;
  return query.replace(token, (whole, name?: string) => {
    if (name !== undefined)
      return Object.hasOwn(values, name) ? JSON.stringify(values[name]) : whole;
    const sign = whole[0]!;
    if (sign === '{') return whole;
    return whole.replace(/\{\{[^{}]*\}\}|\{([A-Za-z_]\w*)\}/g, (mark, inner?: string) => {
      if (inner === undefined || !Object.hasOwn(values, inner)) return mark;
      const text = JSON.stringify(values[inner]).slice(1, -1);
      return sign === '"' ? text : text.replaceAll('\\"', '"').replaceAll("'", "\\'");
    });
  });
}
