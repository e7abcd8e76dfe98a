import { Elysia } from 'elysia';
import { withoutEndSlashes } from '../../base/paths.ts';
import { Type } from '@sinclair/typebox';
import { mayReadEvents } from '../../operations/event-access.ts';
import { mayUpload } from '../../operations/uploads.ts';
import type { Context } from '../../http/context.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { pageReply } from '../page-reply.ts';
import { landingPage } from '../views/landing.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';
import type { ReadableResources } from '../../http/dependencies.ts';
import { resourceTree } from '../resource-tree.ts';

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

export const landingRoute = new Elysia({ name: 'landing' }).use(door).get(
  '/',
  async ({ ask }) => {
    const readable = await ask.services.listReadable(ask.caller);
    return ask.wantsHtml ? await landing(ask, readable) : listing(readable);
  },
  {
    checks: { access: 'public', cacheControl: PRIVATE },
    describes: {
      summary: 'List the files you may read',
      tag: 'system',
      answers: { 200: { description: 'The files', schema: listingModel, hasPage: true } },
    },
  },
);

function listing({ resources, problems }: ReadableResources): Reply {
  const files = [...new Set(resources.map(({ rel }) => rel))];
  const body = problems.length === 0 ? { resources: files } : { resources: files, problems };
  return jsonReply(body, { headers: VARY });
}

/** Each part of the path is a link with the path so far, so the page grows with the square of its length. */
const MAX_FOLDER = { characters: 4096, parts: 64 };

async function landing(context: Context, { resources }: ReadableResources): Promise<Reply> {
  const { services, caller } = context;
  const { config, localLogin, oidc } = services;
  const asked = (context.queryValue('folder') ?? '').slice(0, MAX_FOLDER.characters);
  const folder = withoutEndSlashes(asked.split('/', MAX_FOLDER.parts).join('/'));
  const filter = (context.queryValue('filter') ?? '').trim();
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const factsOf = services.factsOf.bind(services);
  const view = {
    isSignedIn: caller !== null,
    isSuperuser: caller?.isSuperuser ?? false,
    signIn: { hasPassword: localLogin.isEnabled, hasOidc: oidc !== null },
    tree: resourceTree(resources, { folder, filter, offset, factsOf }),
    folder,
    total: resources.length,
    filter,
    hasMedia: resources.some(({ family }) => family === 'media'),
    mayReadEvents: caller !== null && (await mayReadEvents(services, caller)),
    uploadLimit: (await mayUpload(services, caller)) ? config.upload.max_size_bytes : null,
    mayAllowUploads: caller?.isSuperuser === true && !config.upload.enabled && !config.readonly,
  };
  return pageReply(context, landingPage, view, { headers: VARY });
}
