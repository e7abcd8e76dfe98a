/**
 * Thresholds (`STRATEGY` of a folder) as a test wants them, until the end of its block.
 */
export function lowered<Values extends object>(values: Values, to: Partial<Values>): Disposable {
  const before = { ...values };
  Object.assign(values, to);
  return { [Symbol.dispose]: () => void Object.assign(values, before) };
}
