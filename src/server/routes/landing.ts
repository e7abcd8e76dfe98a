/**
 * `GET /`: what the caller may read, as JSON (DS-182) or as the start page (DS-183).
 */
import { Type } from '@sinclair/typebox';
import { encodePath } from '../../base/paths.ts';
import { mayUpload } from '../../operations/uploads.ts';
import type { Context } from '../context.ts';
import { PRIVATE } from '../headers.ts';
import { pageAddress } from '../page-address.ts';
import { pageReply } from '../page-reply.ts';
import type { LandingEntry, LandingFolder } from '../pages/landing.tsx';
import { landingPage } from '../pages/landing.tsx';
import type { Reply } from '../reply.ts';
import { jsonReply } from '../reply.ts';
import type { Route } from '../route-table.ts';
import type { ReadableResources, ResourceView } from '../dependencies.ts';

const VARY = { Vary: 'Accept' };

const listingModel = Type.Object(
  {
    resources: Type.Array(Type.String({ examples: ['reports/sales.csv'] })),
    problems: Type.Optional(
      Type.Array(Type.Object({ resource: Type.String(), problem: Type.String() })),
    ),
  },
  { $id: 'Listing' },
);

/** `/`. */
export const landingRoute: Route = {
  pattern: '/',
  access: 'public',
  cacheControl: PRIVATE,
  describes: {
    GET: {
      summary: 'List the files you may read',
      tag: 'system',
      answers: { 200: { description: 'The files', schema: listingModel, hasPage: true } },
    },
  },
  methods: {
    GET: async (context) => {
      const readable = await context.services.listReadable(context.caller);
      return context.wantsHtml ? await landing(context, readable) : listing(readable);
    },
  },
};

function listing({ resources, problems }: ReadableResources): Reply {
  const files = [...new Set(resources.map(({ rel }) => rel))];
  const body = problems.length === 0 ? { resources: files } : { resources: files, problems };
  return jsonReply(body, { headers: VARY });
}

async function landing(context: Context, { resources }: ReadableResources): Promise<Reply> {
  const { services, caller } = context;
  const filter = (context.queryValue('filter') ?? '').trim();
  const wanted = filter.toLowerCase();
  const shown = resources.filter(({ name }) => name.toLowerCase().includes(wanted));
  const view = {
    isSignedIn: caller !== null,
    folders: foldersOf(shown),
    total: resources.length,
    hasMedia: resources.some(({ family }) => family === 'media'),
    filter,
    uploadLimit: (await mayUpload(services, caller)) ? services.config.upload.max_size_bytes : null,
  };
  return pageReply(context, landingPage, view, { headers: VARY });
}

/** The resources by the folder in their name, in the order they come. */
function foldersOf(resources: readonly ResourceView[]): LandingFolder[] {
  const folders = new Map<string, LandingEntry[]>();
  for (const resource of resources) {
    const slash = resource.name.lastIndexOf('/');
    const path = slash < 0 ? '' : resource.name.slice(0, slash);
    const entries = folders.get(path) ?? [];
    if (entries.length === 0) folders.set(path, entries);
    entries.push(entryOf(resource, resource.name.slice(slash + 1)));
  }
  return [...folders].map(([path, entries]) => ({ path, entries }));
}

function entryOf(resource: ResourceView, label: string): LandingEntry {
  const { name, type, family, problem } = resource;
  const isTable = family === 'dataset' && type !== 'handler';
  return {
    label,
    type,
    problem,
    href: pageAddress(resource),
    dataHref: isTable ? `/api/${encodePath(name)}/` : null,
  };
}
