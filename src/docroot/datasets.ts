/** Maps resources to the targets of their typed copies, and back. */
import { AppError } from '../base/errors.ts';
import type { TableTarget } from '../tables/copy/table-target.ts';
import type { Registry, Resource } from './registry/registry.ts';

type ResourceKey = Pick<Resource, 'rel' | 'sheet'>;

export class Datasets {
  readonly #registry: Registry;
  readonly #targets = new WeakMap<Resource, TableTarget>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  targetOf(resource: Resource): TableTarget {
    const known = this.#targets.get(resource);
    if (known !== undefined) return known;
    const { root } = this.#registry;
    const { schema, options } = this.#registry.companionsOf(resource);
    const absolute = (companion: string): string => root.absolute(companion);
    const target = {
      rel: resource.rel,
      sheet: resource.sheet,
      path: root.absolute(resource.rel),
      companions: {
        schema: schema.map(absolute),
        options: options.map(absolute),
        besides: (resource.kind.dataset?.besides ?? []).map((suffix) =>
          root.absolute(resource.rel + suffix),
        ),
      },
    };
    this.#targets.set(resource, target);
    return target;
  }

  /** Throws `not-found`. */
  resourceOf({ rel, sheet }: ResourceKey): Resource {
    const resource = this.#registry.get(rel, sheet);
    // A file whose content decides what it is may hold rows no longer.
    if (!resource?.kind.dataset) throw new AppError('not-found', 'Not Found');
    return resource;
  }

  siblingsOf({ rel, sheet }: ResourceKey): TableTarget[] {
    if (sheet === null) return [];
    return this.#registry
      .list()
      .filter((other) => other.rel === rel && other.sheet !== sheet)
      .map((other) => this.targetOf(other));
  }
}
