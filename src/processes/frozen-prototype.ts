/**
 * Freezes Object.prototype, so that a parser which writes to `target['__proto__'][key]` fails instead of giving every
 * object of the process a new property.
 *
 * Freezing alone would break correct code: assigning to an inherited read-only property throws, and the runtime's own
 * modules (`zlib`, `stream`, `crypto`, standard error) assign `prototype.constructor` when they load. So each
 * inherited property becomes a getter whose setter defines the property on the target of the assignment.
 */

/** Irreversible. No measurable cost. */
export function freezeObjectPrototype(): void {
  const prototype = Object.prototype;
  for (const name of Reflect.ownKeys(prototype)) {
    const { value, configurable } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    if (value === undefined || configurable !== true) continue;
    Object.defineProperty(prototype, name, {
      get: () => value,
      set(this: object, own: unknown) {
        if (this === prototype) throw new TypeError('Object.prototype is frozen');
        const attributes = { writable: true, enumerable: true, configurable: true };
        Object.defineProperty(this, name, { value: own, ...attributes });
      },
      enumerable: false,
      configurable: false,
    });
  }
  Object.freeze(prototype);
}
