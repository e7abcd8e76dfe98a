/** Embedded files, under names that change with their content. */
import { sha256Hex } from '../base/ids.ts';
import documentStyle from './assets/document.css' with { type: 'text' };
import uplotStyle from 'uplot/dist/uPlot.min.css' with { type: 'text' };
import adminStyle from './assets/admin.css' with { type: 'text' };
import chartsStyle from './assets/charts.css' with { type: 'text' };
import dashboardStyle from './assets/dashboard.css' with { type: 'text' };
import docsStyle from './assets/docs.css' with { type: 'text' };
import editorStyle from './assets/editor.css' with { type: 'text' };
import eventsStyle from './assets/events.css' with { type: 'text' };
import findingsStyle from './assets/findings.css' with { type: 'text' };
import guideStyle from './assets/guide.css' with { type: 'text' };
import gridStyle from './assets/grid.css' with { type: 'text' };
import icon from './assets/icon.svg' with { type: 'text' };
import landingStyle from './assets/landing.css' with { type: 'text' };
import mediaStyle from './assets/media.css' with { type: 'text' };
import profileStyle from './assets/profile.css' with { type: 'text' };
import searchStyle from './assets/search.css' with { type: 'text' };
import sharingStyle from './assets/sharing.css' with { type: 'text' };
import site from './assets/site.css' with { type: 'text' };
import { bundledScript } from './script-bundle.ts' with { type: 'macro' };
import { Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import { IMMUTABLE, PRIVATE } from '../http/reply/headers.ts';
import { type Reply, bodyReply } from '../http/reply/reply.ts';
import { lifecycle } from '../http/lifecycle.ts';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly content: string;
  readonly hash: string;
}

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const contents = {
  'site.css': [CSS, site],
  'admin.css': [CSS, adminStyle],
  'admin.js': [SCRIPT, bundledScript('admin')],
  'charts.css': [CSS, chartsStyle],
  'dashboard.css': [CSS, dashboardStyle],
  'dashboard.js': [SCRIPT, bundledScript('dashboard')],
  'docs.css': [CSS, docsStyle],
  'document.css': [CSS, documentStyle],
  'editor.css': [CSS, editorStyle],
  'editor.js': [SCRIPT, bundledScript('editor')],
  'events.css': [CSS, eventsStyle],
  'events.js': [SCRIPT, bundledScript('events')],
  'findings.css': [CSS, findingsStyle],
  'findings.js': [SCRIPT, bundledScript('findings')],
  'frame.js': [SCRIPT, bundledScript('frame')],
  'gallery.js': [SCRIPT, bundledScript('gallery')],
  'grid.css': [CSS, gridStyle],
  'grid.js': [SCRIPT, bundledScript('grid')],
  'grid-chart.js': [SCRIPT, bundledScript('grid-chart')],
  'guide.css': [CSS, guideStyle],
  'icon.svg': ['image/svg+xml', icon],
  'landing.css': [CSS, landingStyle],
  'landing.js': [SCRIPT, bundledScript('landing')],
  'media.css': [CSS, mediaStyle],
  'live-forms.js': [SCRIPT, bundledScript('live-forms')],
  'passkey.js': [SCRIPT, bundledScript('passkey')],
  'profile.css': [CSS, profileStyle],
  'search.css': [CSS, searchStyle],
  'sharing.css': [CSS, sharingStyle],
  'search.js': [SCRIPT, bundledScript('search')],
  'operation.js': [SCRIPT, bundledScript('operation')],
  'query-editor.js': [SCRIPT, bundledScript('query-editor')],
  'uplot.css': [CSS, uplotStyle],
} as const satisfies Record<string, readonly [type: string, content: string]>;

export type AssetName = keyof typeof contents;

let made: ReadonlyMap<string, Asset> | null = null;
let byPath: ReadonlyMap<string, Asset> | null = null;

/** On demand: hashing a megabyte and a half at start took milliseconds. */
function assets(): ReadonlyMap<string, Asset> {
  made ??= new Map(
    Object.entries(contents).map(([name, [type, content]]) => [name, asset(name, type, content)]),
  );
  return made;
}

export function assetNamed(name: AssetName): Asset {
  return assets().get(name)!;
}

function assetAt(path: string): Asset | null {
  byPath ??= new Map([...assets().values()].map((one) => [one.path, one]));
  return byPath.get(path) ?? null;
}

function asset(name: string, type: string, content: string): Asset {
  const hash = sha256Hex(content).slice(0, 16);
  const dot = name.lastIndexOf('.');
  return { path: `/_svc/${name.slice(0, dot)}.${hash}${name.slice(dot)}`, type, content, hash };
}

export const assetRoutes = new Elysia({ name: 'assets' })
  .use(lifecycle)
  .get(
    '/_svc/*',
    ({ ask: { parameters } }) => {
      const asset = assetAt(`/_svc/${parameters['name']}`);
      if (asset === null) throw new AppError('not-found', 'Not Found');
      return assetReply(asset, IMMUTABLE);
    },
    { checks: { access: 'public', ignoresCredentials: true, hasJsonErrors: true, rest: 'name' } },
  )
  .get('/favicon.ico', () => assetReply(assetNamed('icon.svg'), PRIVATE), {
    checks: { access: 'public', ignoresCredentials: true, hasJsonErrors: true },
  });

function assetReply(asset: Asset, cacheControl: string): Reply {
  const headers = { 'Cache-Control': cacheControl };
  return bodyReply(asset.content, asset.type, { headers, etag: asset.hash });
}
