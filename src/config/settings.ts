/**
 * Every setting, once.
 *
 * The `Config` type, the loader, `svc config`, the flags of `serve`, the table of the guide and the example file all
 * follow from this table; a new setting is one entry here. Keys are as in YAML, with dots for nesting.
 */
import type { SyslogListenerSetting } from './syslog-listener.ts';
import { parseSyslogListeners } from './syslog-listener.ts';
import type { IndexRetention } from './event-values.ts';
import { parseExtractors, parseIndexRetention, rate, timezone } from './event-values.ts';
import type { ExtractorSetting } from './extractor-pattern.ts';
import {
  type DeliveryTargetSetting,
  parseSecrets,
  parseTargets,
  secretPlace,
} from './delivery-values.ts';
import {
  accepted,
  boolean,
  bytes,
  choice,
  integer,
  list,
  map,
  nested,
  optional,
  path,
  port,
  text,
} from './setting.ts';
import type { Setting } from './setting.ts';
import {
  baseUrl,
  bindHost,
  extension,
  hostPattern,
  issuer,
  mailAddress,
  mediaType,
  network,
  webOrigin,
} from './values.ts';

const SECONDS = 'seconds';
const BYTES = 'bytes';
const DAY_SECONDS = 86_400;
const HANDLER_EXTENSIONS: ReadonlySet<string> = new Set(['.ts', '.js', '.mjs', '.py']);
const SECRET_ADVICE =
  'is never read from the file; set SVC_OIDC_CLIENT_SECRET or SVC_OIDC_CLIENT_SECRET_FILE';

/** In the order of the documentation. */
export const settings = {
  docroot: path({
    default: '.',
    summary: 'Folder that is published; a root argument and `SVC_DOCROOT` win over the file.',
  }),
  state_dir: path({
    default: '',
    defaultText: '`<docroot>/.svc`',
    flag: 'common',
    summary: 'Folder for the state database, secrets and sockets; created with mode 0700.',
  }),
  instance_key_file: path({
    default: null,
    summary:
      'File with at least 16 random bytes that seals stored tokens; unset, the secret in the state folder does.',
  }),
  host: text({
    default: '127.0.0.1',
    flag: 'serve',
    range: 'IP address or host name',
    refine: bindHost,
    summary: 'Address to listen on; `0.0.0.0` or `::` for all.',
  }),
  port: port({
    default: 8000,
    flag: 'serve',
    summary: 'TCP port to listen on; 0 takes any free port, which the ready line names.',
  }),
  public_url: text({
    default: '',
    flag: 'serve',
    range: 'http(s) URL',
    refine: baseUrl,
    summary: 'Address people use when it differs from host and port, as behind a proxy.',
  }),
  allowed_hosts: list({
    default: [],
    range: 'host names, `*.domain`',
    refine: hostPattern,
    summary: 'Further host names a request may be addressed to.',
  }),
  'cors.origins': list({
    default: [],
    range: 'origins such as https://app.example.org, or *',
    refine: webOrigin,
    summary: 'Sites whose pages may use the API from a browser.',
  }),
  'cors.credentials': boolean({
    default: false,
    summary: 'Those pages may use the session of whoever looks at them, without a CSRF token.',
  }),
  'cors.max_age_seconds': integer({
    default: 600,
    min: 0,
    max: 86_400,
    unit: 'seconds',
    summary: 'How long a browser may keep what it was told about such requests.',
  }),
  trusted_proxies: list({
    default: [],
    range: 'IP addresses, CIDR blocks',
    refine: network,
    summary: 'Proxies whose forwarding headers are believed.',
  }),
  tls_cert: path({
    default: null,
    live: true,
    flag: 'serve',
    summary: 'PEM file with the certificate chain; turns TLS on together with `tls_key`.',
  }),
  tls_key: path({
    default: null,
    live: true,
    flag: 'serve',
    summary: 'PEM file with the private key of `tls_cert`.',
  }),
  secure_cookies: boolean({
    default: false,
    summary: 'Marks cookies `Secure` even where the connection does not look encrypted.',
  }),
  readonly: boolean({
    default: false,
    live: true,
    flag: 'serve',
    summary: 'Refuses every change made over HTTP.',
  }),
  debug: boolean({
    default: false,
    flag: 'serve',
    summary: 'Logs at level debug whatever `logging.level` says; changes nothing else.',
  }),
  mcp_enabled: boolean({ default: true, summary: 'Serves the MCP endpoint.' }),
  'mcp.saved_searches': boolean({
    default: false,
    summary: 'Offers agents each saved search they may use as a tool of its own.',
  }),
  'mcp.handlers': boolean({
    default: false,
    summary: 'Offers agents each operation of the handlers they may call as a tool of its own.',
  }),
  search_on_startup: boolean({
    default: true,
    summary: 'Brings the search index up to date when the server starts.',
  }),
  'logging.level': choice({
    default: 'info',
    values: ['debug', 'info', 'warning', 'error'],
    live: true,
    summary: 'Least serious message that is logged.',
  }),
  'logging.format': choice({
    default: 'json',
    values: ['json', 'text'],
    live: true,
    summary: 'Form of the log lines on standard error.',
  }),
  plugin_registry: map({
    default: {},
    values: [
      'csv',
      'excel',
      'parquet',
      'json',
      'sqlite',
      'dbf',
      'html',
      'markdown',
      'dashboard',
      'alert',
      'file',
      'media',
      'handler',
      'none',
    ],
    range:
      'extension → csv, excel, parquet, json, sqlite, dbf, html, markdown, dashboard, alert, file, media, handler, none',
    refineName: extension,
    refuse: (name, value) =>
      value === 'handler' && !HANDLER_EXTENSIONS.has(name)
        ? `cannot make '${name}' a handler; only ${[...HANDLER_EXTENSIONS].join(' ')} can be one`
        : null,
    summary: 'Publishes files of an extension as another type, or with `none` not at all.',
  }),
  'resources.hidden_sheets': boolean({
    default: false,
    summary: 'Publishes worksheets that are hidden in their workbook.',
  }),
  'upload.enabled': boolean({ default: false, live: true, summary: 'Accepts uploads.' }),
  'upload.max_size_bytes': bytes({
    default: 10 * 2 ** 20,
    live: true,
    unit: BYTES,
    summary: 'Largest file an upload may hold.',
  }),
  'upload.allowed_extensions': list({
    default: [],
    live: true,
    range: 'extensions',
    refine: extension,
    summary:
      'Extensions uploads are limited to; empty allows all. Unpublished ones are only stored.',
  }),
  'upload.denied_extensions': list({
    default: [],
    live: true,
    range: 'extensions',
    refine: extension,
    summary: 'Extensions refused in uploads; wins over the allowed ones.',
  }),
  'upload.strict_mime_sniffing': boolean({
    default: false,
    live: true,
    summary: 'Refuses uploads whose content does not look like their extension.',
  }),
  'upload.allowed_mime_types': list({
    default: [],
    live: true,
    range: 'media types',
    refine: mediaType,
    summary: 'Media types strict sniffing accepts; empty accepts all that fit the extension.',
  }),
  'upload.collision_policy': choice({
    default: 'overwrite',
    values: ['overwrite', 'reject'],
    live: true,
    summary: 'What an upload does when the file exists.',
  }),
  'upload.allow_handlers': boolean({
    default: false,
    live: true,
    summary: 'Accepts uploads of handler files, which run as code.',
  }),
  'sharing.links': choice({
    default: 'superusers',
    values: ['off', 'superusers', 'readers'],
    live: true,
    summary:
      'Who may make links: superusers, or everybody of what they may read; `off` also stops those there are.',
  }),
  'sharing.max_days': integer({
    default: 90,
    min: 1,
    max: 3650,
    live: true,
    unit: 'days',
    summary: 'Longest life of a link.',
  }),
  'sharing.requires_password': boolean({
    default: false,
    live: true,
    summary: 'Makes links with a password only.',
  }),
  'sharing.max_upload_bytes': bytes({
    default: 2 ** 30,
    max: 2 ** 40,
    live: true,
    unit: BYTES,
    summary: 'Most that all uploads through one link may hold together.',
  }),
  'files.changes': boolean({
    default: true,
    live: true,
    summary:
      'Those who may write a file may edit its text, rename, move and delete it, and make folders.',
  }),
  'files.max_text_bytes': bytes({
    default: 2 * 2 ** 20,
    max: 64 * 2 ** 20,
    live: true,
    unit: BYTES,
    summary: 'Largest text that is edited as a whole.',
  }),
  'files.trash_days': integer({
    default: 30,
    min: 1,
    max: 36_500,
    live: true,
    unit: 'days',
    summary: 'Age at which deleted files are gone for good.',
  }),
  'files.trash_max_bytes': bytes({
    default: 10 * 2 ** 30,
    max: 2 ** 50,
    live: true,
    unit: BYTES,
    summary: 'Room for deleted files; the oldest go first, the newest stays.',
  }),
  'webdav.enabled': boolean({
    default: false,
    live: true,
    summary: 'Offers the folder as a drive at `/dav/`.',
  }),
  'webdav.all_files': boolean({
    default: false,
    live: true,
    summary:
      'Shows and takes files of every kind on the drive, program code excepted, not only published ones.',
  }),
  'second_factor.groups': list({
    default: [],
    live: true,
    summary:
      'Groups whose local accounts need a second factor besides their password; `*` for every local account.',
  }),
  'second_factor.superusers': boolean({
    default: false,
    live: true,
    summary: 'Superusers with local accounts need a second factor too.',
  }),
  'oidc.issuer': text({
    default: '',
    range: 'https URL, http on this machine',
    refine: issuer,
    summary: 'Identity provider; OIDC is on when this and `oidc.client_id` are set.',
  }),
  'oidc.client_id': text({ default: '', summary: 'Client id registered at the provider.' }),
  'oidc.client_secret': text({
    default: '',
    secret: true,
    environmentOnly: SECRET_ADVICE,
    summary: 'Client secret; also read from the file named by `SVC_OIDC_CLIENT_SECRET_FILE`.',
  }),
  'oidc.public_url': text({
    default: '',
    defaultText: '`public_url`',
    sameAs: 'public_url',
    range: 'http(s) URL',
    refine: baseUrl,
    summary: 'Address the provider sends people back to.',
  }),
  'oidc.audience': text({
    default: '',
    defaultText: '`oidc.public_url`',
    sameAs: 'oidc.public_url',
    summary: 'Audience a bearer token must name.',
  }),
  'oidc.username_claim': text({
    default: 'preferred_username',
    summary: 'Claim that holds the user name.',
  }),
  'oidc.groups_claim': text({ default: 'groups', summary: 'Claim that holds the groups.' }),
  'oidc.superuser_roles': list({
    default: ['svc-admin'],
    summary: 'Roles that make a user a superuser.',
  }),
  'oidc.local_login': boolean({
    default: true,
    summary: 'Accepts local passwords beside OIDC; counts only while OIDC is on.',
  }),
  'oidc.scopes': text({
    default: 'openid profile',
    summary: 'Scopes asked for, separated by spaces.',
  }),
  'oidc.link_existing': boolean({
    default: false,
    summary: 'Links a first OIDC sign-in to the local account of the same name.',
  }),
  'locks.ttl_seconds': integer({
    default: 300,
    min: 1,
    max: DAY_SECONDS,
    live: true,
    unit: SECONDS,
    summary: 'How long a lock lives without a sign of its holder.',
  }),
  'locks.timeout_seconds': integer({
    default: 10,
    min: 0,
    max: 3600,
    live: true,
    unit: SECONDS,
    summary: 'How long a change waits for a lock; 0 does not wait.',
  }),
  'limits.max_body_bytes': bytes({
    default: 32 * 2 ** 20,
    max: 2 ** 30,
    live: true,
    unit: BYTES,
    summary: 'Largest request body, uploads excepted.',
  }),
  'limits.max_workbook_bytes': bytes({
    default: 2 ** 30,
    live: true,
    unit: BYTES,
    summary: 'Largest unpacked size of a workbook that is read.',
  }),
  'limits.handler_timeout_seconds': integer({
    default: 30,
    min: 1,
    max: 3600,
    live: true,
    unit: SECONDS,
    summary: 'Longest a handler may take for a request before it is stopped.',
  }),
  'limits.query_timeout_seconds': integer({
    default: 30,
    min: 1,
    max: 3600,
    live: true,
    unit: SECONDS,
    summary: 'Longest a dataset query may run before it is stopped.',
  }),
  'limits.parse_timeout_seconds': integer({
    default: 300,
    min: 1,
    max: DAY_SECONDS,
    live: true,
    unit: SECONDS,
    summary: 'Longest the first reading of one file may take before it is stopped.',
  }),
  'limits.child_memory_bytes': bytes({
    default: 2 ** 30,
    min: 64 * 2 ** 20,
    live: true,
    unit: BYTES,
    summary: 'Resident memory at which a worker process is stopped.',
  }),
  'limits.spool_bytes': bytes({
    default: 2 ** 30,
    min: 0,
    max: 1024 * 2 ** 30,
    live: true,
    unit: BYTES,
    summary:
      'Disk space for answers that are made faster than they are read; one user may have half of it.',
  }),
  'limits.rescan_seconds': integer({
    default: 30,
    min: 1,
    max: DAY_SECONDS,
    live: true,
    unit: SECONDS,
    summary: 'Longest until a change the file watcher missed is found.',
  }),
  'limits.audit_retention_days': integer({
    default: 0,
    min: 0,
    max: 36_500,
    live: true,
    unit: 'days',
    summary: 'Age at which audit entries are deleted; 0 keeps them for ever.',
  }),
  'limits.mcp_result_bytes': bytes({
    default: 4 * 2 ** 20,
    max: 2 ** 30,
    live: true,
    unit: BYTES,
    summary: 'Largest result of an MCP tool call.',
  }),
  'content.trusted_html': boolean({
    default: false,
    summary:
      'Serves published HTML and SVG outside the sandbox, with the rights of the site itself.',
  }),
  'handlers.python': path({
    default: null,
    summary:
      'Interpreter or virtual environment for `.py` handlers; unset, the first `python3` of the PATH that will do.',
  }),
  'history.enabled': boolean({
    default: true,
    live: true,
    summary:
      'Keeps what every edit of rows changed and what replaced files held, so that it can be seen and taken back.',
  }),
  'history.required': boolean({
    default: true,
    live: true,
    summary:
      'Refuses a change whose history cannot be kept; off, the change is made and its answer says so.',
  }),
  'history.max_age_days': integer({
    default: 365,
    min: 1,
    max: 36_500,
    live: true,
    unit: 'days',
    summary: 'Age at which changes are forgotten.',
  }),
  'history.max_changes_per_table': integer({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    live: true,
    summary: 'Changes kept of one dataset or file; the oldest go first.',
  }),
  'history.max_bytes_per_table': bytes({
    default: 64 * 2 ** 20,
    max: 2 ** 40,
    live: true,
    summary: 'Room for the changes of one dataset or file; a larger version of a file is not kept.',
  }),
  'history.max_bytes': bytes({
    default: 256 * 2 ** 20,
    max: 2 ** 40,
    live: true,
    summary: 'Room for all changes together.',
  }),
  'history.max_feed_entries': integer({
    default: 100_000,
    min: 1_000,
    max: 10_000_000,
    live: true,
    summary: 'Changes that readers of the feed may still ask for.',
  }),
  'deliveries.allowed_hosts': list({
    default: [],
    live: true,
    range: 'host names, `*.domain`, IP addresses',
    refine: hostPattern,
    summary:
      'Hosts to which definitions may send webhooks; those of `deliveries.targets` may be reached anyway.',
  }),
  'deliveries.private_networks': list({
    default: [],
    live: true,
    range: 'IP addresses, CIDR blocks',
    refine: network,
    summary: 'Loopback, private and link-local networks into which a host name may lead.',
  }),
  'deliveries.targets': nested({
    type: 'map',
    default: {} as Readonly<Record<string, DeliveryTargetSetting>>,
    live: true,
    range: 'name → url, secret, headers',
    parse: parseTargets,
    summary: 'Receivers that definitions name, so that their addresses and keys stand only here.',
  }),
  'deliveries.secrets': nested({
    type: 'map',
    default: {} as Readonly<Record<string, string>>,
    live: true,
    range: 'name → `env:<variable>`, `file:<path>`',
    parse: parseSecrets,
    summary: 'Keys with which webhooks are signed, by the names that definitions give them.',
  }),
  'deliveries.timeout_seconds': integer({
    default: 10,
    min: 1,
    max: 60,
    live: true,
    unit: SECONDS,
    summary: 'Longest a receiver may take for one delivery.',
  }),
  'deliveries.smtp.host': text({
    default: '',
    live: true,
    range: 'host name or IP address',
    refine: (given) => (given.trim() === '' ? accepted('') : bindHost(given)),
    summary: 'Mail server; without it there is no e-mail.',
  }),
  'deliveries.smtp.port': integer({
    default: 587,
    min: 1,
    max: 65_535,
    live: true,
    summary: 'Its port; 465 for `tls`.',
  }),
  'deliveries.smtp.security': choice({
    default: 'starttls',
    values: ['starttls', 'tls', 'none'],
    live: true,
    summary: 'Encrypts after the greeting, from the start, or never (a relay on this machine).',
  }),
  'deliveries.smtp.username': text({
    default: '',
    live: true,
    summary: 'Name to sign in with; empty: without signing in.',
  }),
  'deliveries.smtp.password': text({
    default: '',
    live: true,
    range: '`env:<variable>`, `file:<path>`',
    refine: secretPlace,
    summary: 'Where the password stands.',
  }),
  'deliveries.smtp.from': text({
    default: '',
    live: true,
    range: 'e-mail address',
    refine: mailAddress,
    summary: 'Sender of e-mail.',
  }),
  'findings.retention_days': integer({
    default: 365,
    min: 0,
    max: 36_500,
    live: true,
    unit: 'days',
    summary: 'Age at which closed findings are deleted; 0 keeps them for ever.',
  }),
  'alerts.per_user': integer({
    default: 1_000,
    min: 0,
    max: 1_000_000,
    live: true,
    summary: 'Alerts of one user, without those in files.',
  }),
  'alerts.file_owner': text({
    default: '',
    live: true,
    range: 'user name',
    summary:
      'With whose rights alerts in files run without being approved, and so the rights of all who may write such files.',
  }),
  'search.typo_tolerance': boolean({
    default: true,
    summary: 'Finds words that differ by a typing mistake.',
  }),
  'search.max_document_bytes': bytes({
    default: 10 * 2 ** 20,
    max: 2 ** 30,
    unit: BYTES,
    summary: 'How much of one document is put into the search index.',
  }),
  'search.max_rows': integer({
    default: 2_000_000,
    min: 0,
    max: 2 ** 32 - 1,
    summary:
      'How many rows of one dataset are put into the search index; the log names those left out.',
  }),
  'events.default_access': choice({
    default: 'none',
    values: ['none', 'read'],
    summary: 'What every signed-in user may do with every event index.',
  }),
  'events.throttle.ingest': text({
    default: '',
    live: true,
    range: '`<n>/second`, `minute`, `hour`, `day`',
    refine: rate,
    summary: 'Requests with events one user may send; empty for any number.',
  }),
  'events.throttle.search': text({
    default: '120/minute',
    live: true,
    range: '`<n>/second`, `minute`, `hour`, `day`',
    refine: rate,
    summary: 'Searches one user may run; empty for any number.',
  }),
  'events.limits.max_body_bytes': bytes({
    default: 32 * 2 ** 20,
    max: 2 ** 30,
    live: true,
    unit: BYTES,
    summary: 'Largest body with events as it is received.',
  }),
  'events.limits.max_decoded_bytes': bytes({
    default: 256 * 2 ** 20,
    max: 2 ** 30,
    live: true,
    unit: BYTES,
    summary: 'Largest body with events once it is decompressed.',
  }),
  'events.limits.max_event_bytes': bytes({
    default: 2 ** 20,
    max: 64 * 2 ** 20,
    live: true,
    unit: BYTES,
    summary: 'Largest text of one event, and as much again of its fields.',
  }),
  'events.limits.max_events': integer({
    default: 100_000,
    min: 1,
    max: 1_000_000,
    live: true,
    summary: 'Most events of one request.',
  }),
  'events.limits.max_depth': integer({
    default: 32,
    min: 2,
    max: 100,
    live: true,
    summary: 'Deepest nesting of JSON in a request with events.',
  }),
  'events.limits.max_fields': integer({
    default: 1_000,
    min: 1,
    max: 100_000,
    live: true,
    summary: 'Most extracted fields of one event.',
  }),
  'events.commit_ms': integer({
    default: 5,
    min: 0,
    max: 1_000,
    unit: 'milliseconds',
    summary: 'Longest an event waits for others to share its write.',
  }),
  'events.queue_events': integer({
    default: 200_000,
    min: 1,
    max: 10_000_000,
    summary: 'Most events that wait to be written.',
  }),
  'events.queue_bytes': bytes({
    default: 256 * 2 ** 20,
    unit: BYTES,
    summary: 'Most bytes of events that wait to be written.',
  }),
  'events.queue_wait_ms': integer({
    default: 2_000,
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
    summary: 'Longest a request waits for room in the queue before it is refused.',
  }),
  'events.min_free_bytes': bytes({
    default: 512 * 2 ** 20,
    min: 0,
    unit: BYTES,
    summary: 'Free space of the disk below which no events are taken.',
  }),
  'events.idempotency_hours': integer({
    default: 24,
    min: 1,
    max: 720,
    unit: 'hours',
    summary: 'How long the answer to an Idempotency-Key is kept.',
  }),
  'events.extractors': nested({
    type: 'list',
    default: [] as readonly ExtractorSetting[],
    live: true,
    range: 'maps of sourcetype, regex or grok, field, types, time',
    parse: parseExtractors,
    summary: 'Patterns that find fields in events of a sourcetype.',
  }),
  'events.syslog': nested({
    type: 'list',
    default: [] as readonly SyslogListenerSetting[],
    range:
      'maps of name, listen, user, index, sourcetype, allow, max_message_bytes, limits of connections',
    parse: parseSyslogListeners,
    summary: 'Addresses that take syslog messages.',
  }),
  'events.syslog_timezone': text({
    default: 'UTC',
    range: 'UTC, an offset, a zone name',
    refine: timezone,
    summary: 'Zone of syslog times without one.',
  }),
  'events.hec_query_token': boolean({
    default: false,
    summary: 'Accepts a credential in the query of Splunk routes.',
  }),
  'events.seal_after_minutes': integer({
    default: 15,
    min: 0,
    max: 525_600,
    live: true,
    unit: 'minutes',
    summary:
      'Age at which events become Parquet files, a seventh of the size; 0 leaves them in the database.',
  }),
  'events.retention.max_age_days': optional(
    integer({
      default: 0,
      min: 1,
      max: 36_500,
      live: true,
      unit: 'days',
      summary: 'Age at which events of an index are deleted; empty keeps them for ever.',
    }),
  ),
  'events.retention.max_bytes': optional(
    bytes({
      default: 0,
      live: true,
      unit: BYTES,
      summary: 'Size at which the oldest events of an index are deleted.',
    }),
  ),
  'events.retention.total_max_bytes': optional(
    bytes({
      default: 0,
      live: true,
      unit: BYTES,
      summary: 'Size of the event database at which the oldest events are deleted.',
    }),
  ),
  'events.retention.interval_seconds': integer({
    default: 300,
    min: 1,
    max: DAY_SECONDS,
    live: true,
    unit: SECONDS,
    summary: 'How often the rules of retention are applied.',
  }),
  'events.retention.indexes': nested({
    type: 'map',
    default: {} as Readonly<Record<string, IndexRetention>>,
    live: true,
    range: 'index → max_age_days, max_bytes',
    parse: parseIndexRetention,
    summary: 'Rules of single indexes; 0 keeps for ever.',
  }),
  'events.tail_per_user': integer({
    default: 10,
    min: 1,
    max: 1_000,
    summary: 'Most live tails of one user.',
  }),
  'events.explore_seconds': integer({
    default: 5,
    min: 1,
    max: 60,
    unit: SECONDS,
    summary: 'Longest a histogram or a list of fields is worked on.',
  }),
  'events.search.max_rows': integer({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    live: true,
    summary: 'Most rows of a search that is answered as JSON.',
  }),
  'events.search.export_max_rows': integer({
    default: 1_000_000,
    min: 1,
    max: 2 ** 32 - 1,
    live: true,
    summary: 'Most rows of a search that is answered as a file (NDJSON, CSV, xlsx, Parquet).',
  }),
  'events.search.timeout_seconds': integer({
    default: 30,
    min: 1,
    max: 3600,
    live: true,
    unit: SECONDS,
    summary: 'Longest a search may run.',
  }),
  'events.search.memory_bytes': bytes({
    default: 256 * 2 ** 20,
    min: 2 ** 20,
    live: true,
    unit: BYTES,
    summary: 'Most a search may hold in memory while it sorts, groups and joins.',
  }),
  'events.search.concurrent_per_user': integer({
    default: 2,
    min: 1,
    max: 1000,
    live: true,
    summary: 'Searches of one user at once; 20 more wait for ten seconds.',
  }),
  'events.search.saved_per_user': integer({
    default: 1_000,
    min: 1,
    max: 1_000_000,
    live: true,
    summary: 'Most saved searches of one user.',
  }),
  'events.search.join_max_rows': integer({
    default: 100_000,
    min: 1,
    max: 10_000_000,
    live: true,
    summary: 'Most rows on the right side of a join or a lookup.',
  }),
  'events.search.implicit_terms': boolean({
    default: true,
    live: true,
    summary: 'A query that begins with no command searches for its words.',
  }),
  'events.search.audit': boolean({
    default: false,
    live: true,
    summary: 'Writes an audit entry for every search.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingKey = keyof typeof settings;

export const settingKeys = Object.keys(settings) as SettingKey[];

type Head<Key> = Key extends `${infer First}.${string}` ? First : Key;

/** `{'a.b': Setting<T>}` gives `{a: {b: T}}`. */
export type ConfigOf<Table> = {
  readonly [Name in Head<keyof Table> & string]: Table extends Record<Name, Setting<infer Value>>
    ? Value
    : ConfigOf<{
        [Key in keyof Table as Key extends `${Name}.${infer Rest}` ? Rest : never]: Table[Key];
      }>;
};

/**
 * `docroot` and `state_dir` are absolute with symbolic links resolved, the TLS paths absolute; texts are normalised
 * by `values.ts`, byte sizes plain numbers.
 */
export type Config = ConfigOf<typeof settings>;

export function variableOf(key: SettingKey): string {
  return `SVC_${key.replaceAll('.', '_').toUpperCase()}`;
}

export function flagOf(key: SettingKey): string {
  return `--${key.replaceAll('_', '-')}`;
}

export function settingAt(key: SettingKey): Setting<unknown> {
  return settings[key];
}

export function valueAt(config: Config, key: SettingKey): unknown {
  let value: unknown = config;
  for (const name of key.split('.')) value = (value as Record<string, unknown>)[name];
  return value;
}

export function configFrom(valueOf: (key: SettingKey) => unknown): Config {
  const config: Record<string, unknown> = {};
  for (const key of settingKeys) {
    const names = key.split('.');
    const last = names.pop()!;
    let section = config;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = valueOf(key);
  }
  return config as Config;
}

/** For tests and embedding. */
export function defaultConfig(docroot: string, stateDir: string): Config {
  const places: Partial<Record<SettingKey, string>> = { docroot, state_dir: stateDir };
  return configFrom((key) => places[key] ?? settings[key].default);
}
