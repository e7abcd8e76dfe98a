/** Start page, health, metrics, and that no page lets text become markup (DS-182, DS-183, DS-187, DS-189, DS-208). */
import { describe, expect, test } from 'bun:test';
import type { FrameView } from '../../src/pages/frame.tsx';
import { renderPage } from '../../src/pages/frame.tsx';
import { fileLayoutPage } from '../../src/pages/files/file-layout.tsx';
import { historyPage } from '../../src/pages/files/history.tsx';
import { datasetPage } from '../../src/pages/files/dataset-page.tsx';
import { guidePage } from '../../src/pages/docs/guide.tsx';
import { docsPage } from '../../src/pages/docs/docs.tsx';
import { operationPage } from '../../src/pages/docs/operation.tsx';
import type { AlertView } from '../../src/operations/alerts/alerts.ts';
import type { FindingView } from '../../src/operations/findings.ts';
import { reference } from '../../src/language/reference.ts';
import { searchLanguagePage } from '../../src/pages/events/search-language.tsx';
import { dashboardPage } from '../../src/pages/files/dashboard.tsx';
import { documentPage } from '../../src/pages/files/document.tsx';
import { galleryPage } from '../../src/pages/files/media.tsx';
import { playerPage } from '../../src/pages/files/media.tsx';
import { errorPage } from '../../src/pages/error.tsx';
import { textEditorPage } from '../../src/pages/files/text-editor.tsx';
import { trashPage } from '../../src/pages/files/trash.tsx';
import { landingPage } from '../../src/pages/files/landing.tsx';
import { loginPage } from '../../src/pages/accounts/login.tsx';
import { eventsPage } from '../../src/pages/events/events.tsx';
import { eventPage } from '../../src/pages/events/event-page.tsx';
import { savedSearchesPage } from '../../src/pages/events/saved-searches.tsx';
import { alertPage } from '../../src/pages/alerts/alert.tsx';
import { alertsPage } from '../../src/pages/alerts/alerts.tsx';
import { findingPage } from '../../src/pages/findings/finding.tsx';
import { findingsPage } from '../../src/pages/findings/findings.tsx';
import { secondFactorPage } from '../../src/pages/accounts/second-factor.tsx';
import { profilePage } from '../../src/pages/accounts/profile.tsx';
import { readingPage } from '../../src/pages/files/file-being-read.tsx';
import { rowPage, type RowView } from '../../src/pages/files/row-page.tsx';
import { searchPage } from '../../src/pages/search.tsx';
import { setupPage } from '../../src/pages/accounts/setup.tsx';
import { uploadedPage } from '../../src/pages/files/uploads.tsx';
import { sharePage } from '../../src/pages/sharing/share.tsx';
import { filesPage, passwordPage, uploadPage } from '../../src/pages/sharing/link-front.tsx';
import { uploadRefusedPage } from '../../src/pages/files/uploads.tsx';
import { allPages } from './all-pages.ts';
import { adminPagesWith } from './admin-page-views.ts';
import { startFixture } from './server-fixture.ts';
import type { ReadableResources } from '../../src/http/context.ts';

const HTML = { Accept: 'text/html' };
const readable: ReadableResources = {
  resources: [
    {
      rel: 'a b/ü.csv',
      sheet: null,
      type: 'csv',
      family: 'dataset',
      name: 'a b/ü',
      problem: null,
    },
    {
      rel: 'hooks.ts',
      sheet: null,
      type: 'handler',
      family: 'dataset',
      name: 'hooks',
      problem: null,
    },
    {
      rel: 'inv.xlsx',
      sheet: 'Stock',
      type: 'excel',
      family: 'dataset',
      name: 'inv/Stock',
      problem: 'encrypted <workbook>',
    },
    {
      rel: 'inv.xlsx',
      sheet: 'Old',
      type: 'excel',
      family: 'dataset',
      name: 'inv/Old',
      problem: null,
    },
    {
      rel: 'notes.md',
      sheet: null,
      type: 'markdown',
      family: 'content',
      name: 'notes',
      problem: null,
    },
    {
      rel: 'song.mp3',
      sheet: null,
      type: 'media',
      family: 'media',
      name: 'song',
      problem: null,
    },
  ],
  problems: [{ resource: 'inv.xlsx', problem: 'encrypted <workbook>' }],
};

describe('DS-182, DS-183: the start page', () => {
  test('is exactly an empty list for anonymous programs', async () => {
    await using server = await startFixture({ readable });
    expect(await (await server.fetch('/')).text()).toBe('{"resources":[]}');
  });

  test('lists every readable file once, and the problems among them', async () => {
    await using server = await startFixture({ readable });
    const headers = { 'X-API-Key': await server.apiKey('anna') };
    expect(await (await server.fetch('/', { headers })).json()).toEqual({
      resources: ['a b/ü.csv', 'hooks.ts', 'inv.xlsx', 'notes.md', 'song.mp3'],
      problems: [{ resource: 'inv.xlsx', problem: 'encrypted <workbook>' }],
    });
    await using whole = await startFixture({ readable: { ...readable, problems: [] } });
    const key = { 'X-API-Key': await whole.apiKey('anna') };
    expect(await (await whole.fetch('/', { headers: key })).json()).not.toHaveProperty('problems');
  });

  test('offers a browser the way in, and no names', async () => {
    await using server = await startFixture({ readable });
    const page = await (await server.fetch('/', { headers: HTML })).text();
    expect(page).toContain('href="/auth/login"');
    expect(page).not.toContain('notes');
    expect(page).not.toContain('Sign out');
  });

  test('shows a signed-in browser its resources by folder, filtered if it asks', async () => {
    await using server = await startFixture({ readable });
    const { cookie, csrf } = await server.session('anna');
    const page = async (path: string): Promise<string> =>
      (await server.fetch(path, { headers: { ...HTML, Cookie: cookie } })).text();
    const all = await page('/');
    for (const href of [
      '/ui/a%20b/%C3%BC/',
      '/api/hooks/',
      '/ui/inv/Stock/',
      '/notes',
      '/ui/song',
    ]) {
      expect(all).toContain(`href="${href}"`);
    }
    expect(all).toContain('encrypted &lt;workbook&gt;');
    expect(all).toContain(`name="csrf_token" value="${csrf}"`);
    const some = await page('/?filter=OLD');
    expect(some).toContain('1 of 6');
    expect(some).not.toContain('href="/notes"');
  });
});

describe('DS-187: health', () => {
  test('tells signed-in callers more', async () => {
    await using server = await startFixture();
    const common = { status: 'ok', version: '0.3.0', timestamp: '2026-11-20T12:00:00.000Z' };
    const response = await server.fetch('/health/');
    expect([response.status, await response.json()]).toEqual([200, common]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const headers = { 'X-API-Key': await server.apiKey('anna') };
    server.clock.pass(2500);
    expect(await (await server.fetch('/health', { headers })).json()).toEqual({
      ...common,
      timestamp: '2026-11-20T12:00:02.500Z',
      uptime_seconds: 2,
      cache_size: 0,
      endpoint_count: 0,
    });
  });

  test('is degraded while the state cannot be used, and recovers', async () => {
    let failure: Error | null = new Error('database is locked');
    let checks = 0;
    await using server = await startFixture({
      checkState: async () => {
        checks++;
        if (failure !== null) throw failure;
      },
    });
    const health = async (): Promise<[number, unknown]> => {
      const response = await server.fetch('/health');
      return [response.status, ((await response.json()) as { status: string }).status];
    };
    expect(await health()).toEqual([503, 'degraded']);
    failure = null;
    expect(await health()).toEqual([200, 'ok']);
    const asked = checks;
    for (let time = 0; time < 10; time++) await health();
    expect(checks).toBe(asked);
    failure = new Error('read-only file system');
    server.clock.pass(1001);
    expect(await health()).toEqual([503, 'degraded']);
    expect(server.log.join('')).toContain('read-only file system');
  });

  test('never redirects', async () => {
    await using server = await startFixture();
    const headers = { ...HTML, 'X-API-Key': 'ak_wrong' };
    expect((await server.fetch('/health', { headers })).status).toBe(401);
  });
});

describe('DS-189: metrics', () => {
  test('are for superusers and API keys, and name no resources and users', async () => {
    await using server = await startFixture({ readable });
    await server.user('root', true);
    const anna = await server.session('anna');
    const root = await server.session('root');
    const read = (headers: Record<string, string>): Promise<Response> =>
      server.fetch('/metrics', { headers });
    expect((await read({})).status).toBe(401);
    expect((await read({ Cookie: anna.cookie })).status).toBe(403);
    await server.fetch('/api/secret-name/', { headers: { Cookie: root.cookie } });
    const response = await read({ 'X-API-Key': await server.apiKey('anna', ['read']) });
    const text = await response.text();
    expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4');
    expect(text).toContain(
      'svc_http_requests_total{method="GET",route="/metrics",status="403"} 1\n',
    );
    expect(text).toContain(
      'svc_http_requests_total{method="GET",route="/{file}",status="200"} 1\n',
    );
    expect(text).toMatch(
      /svc_http_request_duration_seconds_bucket\{route="\/metrics",le="\+Inf"\} 2/,
    );
    expect(text).not.toContain('secret-name');
    expect(text).not.toContain('anna');
    expect((await read({ Cookie: root.cookie })).status).toBe(200);
  });
});

describe('DS-184, DS-208: pages', () => {
  const EVIL = '<script>alert("1")</script>\'"><img src=x onerror=alert(1)>&amp;';
  const finding: FindingView = {
    ...{ id: 1, alert_id: EVIL, alert: EVIL, alert_source: EVIL, key: EVIL },
    ...{ severity: 'high', severity_rank: 3, status: 'new', is_open: true },
    ...{ owner: EVIL, notes: EVIL, closed_at: EVIL, first_seen: EVIL, last_seen: EVIL },
    ...{ count: 2, row_count: 5, version: 1, query: EVIL, from: null, to: null },
    ...{
      columns: [EVIL],
      rows: [{ [EVIL]: EVIL }],
      links: { finding: '/f', events: '/e', query: '/q' },
    },
  };
  const run = {
    kind: 'late',
    state: 'failed',
    ...{ id: 1, alert_id: 1, slot: EVIL, attempt: 2 },
    ...{ started_at: EVIL, ended_at: EVIL, duration_ms: 3, row_count: 4, fired: 1, resolved: 0 },
    ...{ quiet: 0, missed: 2, error: EVIL },
  } as const;
  const alert: AlertView = {
    ...{ id: 1, title: EVIL, source: null, owner: EVIL, state: 'stopped', problem: EVIL },
    ...{ definition: { title: EVIL, query: EVIL, schedule: EVIL, when: { type: 'no data' } } },
    ...{ next_run: EVIL, missed: 1, last_run: run, hash: null, may_change: true },
    ...{ created_at: EVIL, updated_at: EVIL, version: 1 },
  };
  const frame: FrameView = {
    theme: null,
    link: null,
    mayShare: true,
    isLongAddress: false,
    path: '/x',
    username: EVIL,
    csrfToken: EVIL,
    navigation: [{ label: EVIL, href: '/x' }],
  };
  const rowIn = (mode: RowView['mode']): RowView => ({
    name: EVIL,
    file: EVIL,
    mode,
    rowId: EVIL,
    version: EVIL,
    fields: [
      ...(['string', 'boolean'] as const).map((type) => ({
        name: EVIL,
        type,
        text: EVIL,
        before: EVIL,
        isWritable: true,
        problem: EVIL,
        then: { name: EVIL, presentHref: '/x', historyHref: '/y' },
      })),
      {
        name: EVIL,
        type: 'string',
        text: EVIL.repeat(9),
        before: EVIL,
        isWritable: true,
        problem: null,
      },
    ],
    hidden: 1,
    problem: EVIL,
    notice: EVIL,
    conflicts: [{ name: EVIL, before: EVIL, present: EVIL, typed: EVIL }],
    undo: { href: '/u', fields: [[EVIL, EVIL]] },
    backHref: '/b',
    rowHref: '/r',
    deleteHref: '/d',
  });
  const entry = {
    label: EVIL,
    href: '/x',
    type: 'csv' as const,
    kind: EVIL,
    problem: EVIL,
    size: 1,
    rows: 2,
    changedAt: EVIL,
    rel: EVIL,
    mayMove: true,
    mayWrite: true,
  };
  const folder = {
    rel: EVIL,
    mayMove: true,
    mayWrite: true,
    label: EVIL,
    isWorkbook: false,
    count: 1,
    problems: 1,
    href: '/f',
    isOpen: true,
  };
  const evilLine = { name: EVIL, depth: 1, type: EVIL, isRequired: true, description: EVIL };
  const rendered: Record<string, string> = {
    error: renderPage(
      errorPage,
      {
        status: 409,
        detail: EVIL,
        requestId: EVIL,
        isRepeatable: true,
        isStaleForm: false,
        retryAfter: 3,
      },
      frame,
    ),
    'text-editor': renderPage(
      textEditorPage,
      {
        rel: EVIL,
        backHref: '/b',
        text: EVIL,
        version: EVIL,
        hasPreview: true,
        preview: { body: null, table: { columns: [EVIL], rows: [[EVIL]] }, problem: EVIL },
        theirs: EVIL,
      },
      frame,
    ),
    trash: renderPage(
      trashPage,
      {
        entries: [
          {
            id: EVIL,
            rel: EVIL,
            isFolder: false,
            bytes: 1,
            files: 1,
            deletedAt: '2026-01-01T00:00:00Z',
            deletedBy: EVIL,
          },
        ],
        days: 30,
        isReadOnly: false,
      },
      frame,
    ),
    landing: renderPage(
      landingPage,
      {
        isSignedIn: true,
        isSuperuser: false,
        rel: EVIL,
        isKnown: true,
        mayPlace: true,
        hasTrash: true,
        signIn: { hasPassword: true, hasOidc: true },
        tree: {
          level: {
            folders: [
              { ...folder, content: { folders: [], entries: [entry] } },
              { ...folder, content: null },
            ],
            entries: [entry],
          },
          count: 2,
          previous: 0,
          next: 2,
        },
        folder: EVIL,
        total: 2,
        filter: EVIL,
        hasMedia: true,
        mayReadEvents: true,
        uploadLimit: 1,
        mayAllowUploads: true,
      },
      frame,
    ),
    uploaded: renderPage(
      uploadedPage,
      {
        path: EVIL,
        size: 1,
        mime_type: EVIL,
        checksum: EVIL,
        operation: 'created',
        href: '/x',
        problem: EVIL,
      },
      frame,
    ),
    'link-password': renderPage(passwordPage, { problem: EVIL }, frame),
    'link-files': renderPage(
      filesPage,
      {
        title: EVIL,
        files: [{ name: EVIL, href: '/f', size: 1, changedAt: '2026-01-01T00:00:00.000Z' }],
        more: 1,
      },
      frame,
    ),
    'link-upload': renderPage(uploadPage, { maxBytes: 1, received: EVIL, problem: EVIL }, frame),
    share: renderPage(
      sharePage,
      {
        resource: EVIL,
        access: {
          mayChange: true,
          holders: [
            ...(['read', 'write'] as const).map((action) => ({
              ...{ groupId: 1, group: EVIL, people: [EVIL], action, resource: EVIL, isOwn: true },
            })),
          ],
          superusers: [EVIL],
          names: [{ name: EVIL, isGroup: true }],
          notes: [EVIL],
        },
        links: [
          {
            ...{ id: 1, username: EVIL, kind: 'read', resource: EVIL, view: null },
            ...{ description: EVIL, has_password: true, max_bytes: null, uploaded_bytes: 0 },
            ...{ created_at: EVIL, expires_at: '9', revoked_at: null, uses: 1, last_used_at: null },
          },
        ],
        takesUploads: true,
        needsPassword: false,
        days: { first: EVIL, usual: EVIL, last: EVIL },
        view: { filter: JSON.stringify({ [EVIL]: EVIL }), sort: EVIL, columns: EVIL, q: EVIL },
        now: '2026',
        created: EVIL,
        problem: EVIL,
        notice: EVIL,
        entered: new Map([['to', EVIL]]),
      },
      frame,
    ),
    'upload-refused': renderPage(
      uploadRefusedPage,
      { detail: EVIL, advice: EVIL, limit: 1, requestId: EVIL },
      frame,
    ),
    login: renderPage(
      loginPage,
      {
        next: EVIL,
        problem: EVIL,
        username: EVIL,
        hasPasswordForm: true,
        hasOidc: true,
        hasPasskeys: true,
        isFirstRun: true,
      },
      frame,
    ),
    'second-factor': renderPage(
      secondFactorPage,
      { next: EVIL, problem: EVIL, hasPasskeys: true },
      frame,
    ),
    'file-layout': renderPage(
      fileLayoutPage,
      {
        rowsHref: '/r',
        name: EVIL,
        title: EVIL,
        page: '/ui/x/',
        problem: EVIL,
        refusal: EVIL,
        fields: [{ name: 'range', label: EVIL, choices: null, placeholder: EVIL, value: EVIL }],
        preview: {
          lines: [{ number: 1, cells: [EVIL] }],
          found: { encoding: EVIL, range: EVIL, guessed: [] },
          columns: [EVIL],
          rows: [[EVIL]],
          types: [{ type: EVIL }],
          problem: null,
        },
        previewProblem: null,
        types: new Map([[EVIL, EVIL]]),
        version: EVIL,
        hasCompanions: true,
      },
      frame,
    ),
    history: renderPage(
      historyPage,
      {
        name: EVIL,
        title: EVIL,
        page: '/ui/x/',
        rowId: 1,
        change: null,
        newest: null,
        isDataset: true,
        column: EVIL,
        content: '/_svc/history/x',
        difference: { change: 1, text: `-${EVIL}\n+${EVIL}` },
        user: EVIL,
        changes: [
          {
            id: 1,
            at: '2026-11-20T10:00:00.000Z',
            user: EVIL,
            action: 'update',
            count: 9,
            state: 'unsure',
            renumbered: true,
            undoes: [],
            undone: 'no',
            version: null,
            damaged: false,
            rows: [{ _row_id: 1, before: { [EVIL]: EVIL }, after: { [EVIL]: `${EVIL}!` } }],
            rows_truncated: false,
          },
        ],
        olderHref: '/o',
        done: EVIL,
        refusal: { change: 1, text: EVIL, isPartial: true },
      },
      frame,
    ),
    dataset: renderPage(
      datasetPage,
      {
        name: EVIL,
        q: EVIL,
        filter: EVIL,
        sort: EVIL,
        conditions: [{ text: EVIL, href: '/c' }],
        kept: [[EVIL, EVIL]],
        order: [{ column: EVIL, isDescending: true }],
        columns: [{ name: EVIL, type: EVIL, sortHref: '/s', sorted: 'ascending' }],
        rows: [{ id: '1', href: '/r', cells: [EVIL] }],
        newHref: '/n',
        position: EVIL,
        previousHref: '/p',
        nextHref: '/n',
        links: [{ label: EVIL, href: '/l' }],
        problem: EVIL,
        then: { name: EVIL, presentHref: '/x', historyHref: '/y' },
        readOnly: EVIL,
        uncalculated: 2,
        calculateHref: '/c',
        total: EVIL,
        hints: [{ columns: EVIL, meaning: EVIL, href: '/h' }],
        grid: {
          file: EVIL,
          isLarge: false,
          api: EVIL,
          page: EVIL,
          mayWrite: true,
          username: EVIL,
          layoutHref: '/h',

          historyHref: null,
          hasNull: true,
          chartScript: '/_svc/c.js',
          columns: [{ name: EVIL, type: 'string', isWritable: true }],
          startAt: null,
          isShared: false,
          isFixed: false,
        },
      },
      frame,
    ),
    reading: renderPage(
      readingPage,
      { name: EVIL, file: EVIL, size: 1, progress: { bytes: 1, size: 2, pass: 2 } },
      frame,
    ),
    row: renderPage(rowPage, rowIn('edit'), frame),
    docs: renderPage(
      docsPage,
      {
        filter: EVIL,
        isSignedIn: true,
        files: [
          {
            name: EVIL,
            kind: EVIL,
            operations: [{ method: EVIL, path: EVIL, summary: EVIL }],
          },
        ],
        fileCount: 1,
        previous: 0,
        next: 1,
        parts: [],
      },
      frame,
    ),
    operation: renderPage(
      operationPage,
      {
        method: EVIL,
        path: EVIL,
        summary: EVIL,
        origin: EVIL,
        fields: [
          {
            name: EVIL,
            place: 'query',
            description: EVIL,
            type: EVIL,
            isRequired: true,
            choices: [EVIL],
            preset: EVIL,
          },
        ],
        bodies: [
          {
            mediaType: EVIL,
            entry: 'text',
            example: EVIL,
            lines: [evilLine],
            fields: [EVIL],
            files: [EVIL],
          },
        ],
        answers: [{ status: EVIL, description: EVIL, mediaTypes: [EVIL], lines: [evilLine] }],
      },
      frame,
    ),
    guide: renderPage(
      guidePage,
      {
        title: EVIL,
        isIndex: true,
        body: '<h1 id="a">A</h1>',
        outline: [],
        chapters: [{ title: EVIL, href: '/c', isHere: true }],
        previous: { title: EVIL, href: '/p', isHere: false },
        next: { title: EVIL, href: '/n', isHere: false },
        q: EVIL,
        hits: [{ chapter: EVIL, title: EVIL, href: '/h', snippet: [{ text: EVIL, isHit: true }] }],
      },
      frame,
    ),
    'search-language': renderPage(searchLanguagePage, reference([EVIL]), frame),
    events: renderPage(
      eventsPage,
      {
        dataset: EVIL,
        examples: [{ query: EVIL, href: '/x' }],
        q: EVIL,
        isSql: true,
        values: { [EVIL]: EVIL },
        pages: [{ label: EVIL, href: EVIL }],
        earliest: EVIL,
        latest: EVIL,
        timezone: 'UTC',
        full: EVIL,
        terms: EVIL,
        problem: {
          before: EVIL,
          wrong: EVIL,
          after: EVIL,
          sqlHref: EVIL,
          message: EVIL,
          suggestion: EVIL,
          suggestionHref: '/s',
          allowed: [EVIL],
        },
        notices: [EVIL],
        lines: [
          {
            id: EVIL,
            time: EVIL,
            level: null,
            cells: [EVIL],
            text: EVIL,
            fields: [{ name: EVIL, value: EVIL, includeHref: '/i', excludeHref: '/e' }],
          },
        ],
        lineColumns: [{ name: EVIL, withoutHref: '/w' }],
        isTable: true,
        otherForm: { label: EVIL, href: '/f' },
        columns: [{ name: EVIL, isNumeric: false }],
        rows: [[{ text: EVIL, kind: 'time' }], [{ text: EVIL, kind: 'text', includeHref: '/i' }]],
        figures: { rows: 1, isCut: true, scanned: 1, elapsedMs: 1 },
        view: {},
        saved: null,
        done: EVIL,
        mayReadEvents: true,
        mayCreateFiles: true,
        sendsTo: EVIL,
        allTimeHref: '/a',
        moreHref: '/m',
        formatHrefs: { json: '/j', ndjson: '/n', csv: EVIL, xlsx: '/x', parquet: '/p' },
        isCountable: true,
        maxFileRows: 1000,
        isChartable: true,
      },
      frame,
    ),
    event: renderPage(
      eventPage,
      {
        id: 1,
        kind: 'host',
        lines: [
          {
            id: '1',
            time: EVIL,
            level: null,
            cells: [EVIL],
            text: EVIL,
            fields: [{ name: EVIL, value: EVIL, includeHref: '/i', excludeHref: '/e' }],
          },
        ],
        searchHref: '/s',
      },
      frame,
    ),
    savedsearches: renderPage(
      savedSearchesPage,
      {
        filter: EVIL,
        kind: '',
        first: 1,
        address: '/savedsearches',
        warnings: [EVIL],
        dataHref: '/d',
        notice: EVIL,
        problem: EVIL,
        refused: {
          action: 'share',
          id: '1',
          fields: new Map([['readers', EVIL]]),
        },
        deleted: new Map([['name', EVIL]]),
        previousHref: '/p',
        nextHref: '/n',
        entries: [
          {
            id: 1,
            name: EVIL,
            query: EVIL,
            isPublic: true,
            isOwn: true,
            isShared: false,
            readers: [EVIL],
            updatedAt: EVIL,
            openHref: '/o',
          },
        ],
      },
      frame,
    ),
    alerts: renderPage(alertsPage, { alerts: [alert], isMore: true, notice: EVIL }, frame),
    alert: renderPage(
      alertPage,
      {
        alert,
        runs: [run],
        rows: { columns: [EVIL], rows: [{ [EVIL]: EVIL }], row_count: 2 },
        fields: { title: EVIL, query: EVIL, mute: EVIL },
        preview: {
          runs: 1,
          looked_at: 1,
          from: EVIL,
          to: EVIL,
          fired: 1,
          resolved: 0,
          quiet: 0,
          failed: 1,
          error: EVIL,
          limit: EVIL,
          firings: [{ at: EVIL, key: EVIL, rows: 1 }],
        },
        notice: EVIL,
        problem: EVIL,
      },
      frame,
    ),
    findings: renderPage(
      findingsPage,
      {
        filters: { status: EVIL, severity: EVIL, owner: EVIL, search: EVIL },
        items: [finding],
        total: 1,
        first: 1,
        address: '/ui/findings',
        sorts: {},
        previousHref: '/p',
        nextHref: '/n',
        dataHref: '/d',
        files: {},
        notice: EVIL,
        problem: EVIL,
      },
      frame,
    ),
    finding: renderPage(
      findingPage,
      {
        finding,
        history: [{ at: EVIL, user: EVIL, action: EVIL, details: EVIL }],
        notice: EVIL,
        problem: EVIL,
        entered: new Map([['notes', EVIL]]),
      },
      frame,
    ),
    profile: renderPage(
      profilePage,
      {
        username: EVIL,
        isSuperuser: true,
        isReadOnly: false,
        hasPassword: true,
        hasToken: true,
        factors: {
          factors: [{ id: 1, kind: 'totp', name: EVIL, created_at: EVIL, last_used_at: EVIL }],
          recovery_codes_left: 3,
          required: true,
          enrolment: { secret: EVIL, uri: EVIL, picture: '<svg></svg>' },
          recoveryCodes: [EVIL],
          hasPasskeys: true,
        },
        sessions: [
          {
            id: 1,
            created_at: EVIL,
            last_active_at: EVIL,
            expires_at: EVIL,
            ip_address: EVIL,
            user_agent: EVIL,
            strength: 'two-factors',
            current: false,
          },
        ],
        keys: [
          {
            id: 1,
            description: EVIL,
            created_at: EVIL,
            expires_at: EVIL,
            last_used_at: EVIL,
            is_active: true,
            scopes: [EVIL],
          },
        ],
        newKey: { id: 1, key: EVIL, description: EVIL, expires_at: null, created_at: EVIL },
        notice: EVIL,
        problem: EVIL,
      },
      frame,
    ),
    search: renderPage(
      searchPage,
      {
        q: EVIL,
        type: EVIL,
        facets: [{ label: EVIL, href: '/t', isChosen: true }],
        sqlHref: EVIL,
        eventsHref: '/events',
        hasQuery: true,
        first: 1,
        items: [
          {
            title: EVIL,
            href: '/h',
            place: EVIL,
            kind: EVIL,
            snippet: [{ text: EVIL, isHit: true }],
            dataHref: '/d',
          },
        ],
        previousHref: '/p',
        nextHref: '/n',
        files: { json: '/j', ndjson: '/n', csv: EVIL, xlsx: '/x', parquet: '/p' },
        leftOut: [EVIL],
      },
      frame,
    ),
    document: renderPage(
      documentPage,
      {
        title: EVIL,
        rel: EVIL,
        changedAt: EVIL,
        source: null,
        editHref: '/e',
        historyHref: '/h',
        hasHeading: false,
        // What stands here went through the allow list of its kind.
        body: '<p>text</p>',
        facts: [{ name: EVIL, text: EVIL }],
        outline: [1, 2, 3].map((level) => ({ level, anchor: EVIL, text: EVIL })),
      },
      frame,
    ),
    dashboard: renderPage(
      dashboardPage,
      {
        resource: EVIL,
        file_name: EVIL,
        may_write: true,
        version: EVIL,
        dashboard: {
          title: EVIL,
          description: EVIL,
          time: { earliest: EVIL, latest: EVIL },
          rows: [{ title: EVIL, panels: [{ title: EVIL, query: EVIL }, { text: EVIL }] }],
        },
        // Went through the allow list of Markdown.
        texts: { '0/1': '<p>text</p>' },
        queries: { '0/0': { query: EVIL, rest: EVIL, is_sql: false, problem: EVIL } },
      },
      frame,
    ),
    gallery: renderPage(
      galleryPage,
      {
        filter: EVIL,
        type: '' as const,
        sort: 'name' as const,
        total: 1,
        entries: [{ name: EVIL, detail: EVIL, size: 1, isVideo: true, href: '/h', cover: null }],
        previousHref: '/p',
        nextHref: '/n',
        files: { json: '/j', ndjson: '/n', csv: EVIL, xlsx: '/x', parquet: '/p' },
      },
      frame,
    ),
    player: renderPage(
      playerPage,
      {
        title: EVIL,
        name: EVIL,
        position: EVIL,
        isVideo: false,
        source: '/s',
        type: EVIL,
        hasCover: false,
        facts: [{ name: EVIL, text: EVIL }],
        size: 1,
        previous: { href: '/p', label: EVIL },
        next: { href: '/n', label: EVIL },
        historyHref: '/h',
      },
      frame,
    ),
    ...adminPagesWith(EVIL, frame),
    setup: renderPage(setupPage, { token: EVIL, problem: EVIL, username: EVIL }, frame),
  };

  test('keep a text in an attribute that looks like a character reference', () => {
    const view = {
      next: '/',
      problem: null,
      hasPasswordForm: true,
      hasOidc: false,
      hasPasskeys: false,
      isFirstRun: false,
    };
    const page = renderPage(loginPage, { ...view, username: '&lt;"' }, frame);
    expect(page).toContain('value="&amp;lt;&#34;"');
  });

  test('are all tried here', async () => {
    const pages = await allPages();
    expect(Object.keys(rendered).sort()).toEqual(pages.map(({ name }) => name).sort());
  });

  test.each(['read', 'add', 'delete', 'done'] as const)(
    'row, to %s, lets no text become markup',
    async (mode) => {
      const images: (string | null)[] = [];
      const rewriter = new HTMLRewriter().on('img', {
        element: (element) => {
          images.push(element.getAttribute('onerror'));
        },
      });
      await rewriter.transform(new Response(renderPage(rowPage, rowIn(mode), frame))).text();
      expect(images).toEqual([null]);
    },
  );

  test.each(Object.keys(rendered))('%s lets no text become markup', async (name) => {
    const tags: string[] = [];
    const handlers: string[] = [];
    await new HTMLRewriter()
      .on('*', {
        element(element) {
          const isOwn = element.getAttribute('src')?.startsWith('/_svc/') === true;
          if (element.tagName !== 'script' || !isOwn) tags.push(element.tagName);
          for (const [attribute] of element.attributes) {
            if (attribute.startsWith('on') || attribute === 'style') handlers.push(attribute);
          }
        },
      })
      .transform(new Response(rendered[name]!))
      .text();
    expect(tags.filter((tag) => tag === 'script' || tag === 'style')).toEqual([]);
    expect(handlers).toEqual([]);
    expect(tags.filter((tag) => tag === 'img')).toHaveLength(1);
    expect(rendered[name]).toStartWith('<!doctype html><html lang="en">');
  });
});
