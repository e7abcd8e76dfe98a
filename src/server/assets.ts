/**
 * Everything the pages load, embedded in the executable under names that change with the content (DS-186).
 */
import { sha256Hex } from '../base/ids.ts';
import icon from './assets/icon.svg' with { type: 'text' };
import site from './assets/site.css' with { type: 'text' };

/** One embedded file. */
export interface Asset {
  /** Path under which it is served, with the hash in it. */
  readonly path: string;
  readonly type: string;
  readonly content: string;
  /** Part of its entity tag and name. */
  readonly hash: string;
}

type AssetName = 'site.css' | 'icon.svg';

const all: ReadonlyMap<AssetName, Asset> = new Map([
  ['site.css', asset('site.css', 'text/css; charset=utf-8', site)],
  ['icon.svg', asset('icon.svg', 'image/svg+xml', icon)],
]);

const byPath = new Map([...all.values()].map((one) => [one.path, one]));

/** The asset of a source name. */
export function assetNamed(name: AssetName): Asset {
  return all.get(name)!;
}

/** The asset served at a path; null when there is none. */
export function assetAt(path: string): Asset | null {
  return byPath.get(path) ?? null;
}

function asset(name: string, type: string, content: string): Asset {
  const hash = sha256Hex(content).slice(0, 16);
  const dot = name.lastIndexOf('.');
  return { path: `/_svc/${name.slice(0, dot)}.${hash}${name.slice(dot)}`, type, content, hash };
}
