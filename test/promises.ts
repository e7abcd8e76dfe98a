/**
 * What the project promises about security, hostile input and faults, by id: each with its meaning in a line and the tests that hold
 * it to that. `promises.test.ts` fails when a test named here is not there, and when a test cites an id that is not.
 *
 * A test is named by its file and words of its name, or of the data that name it.
 */

/** A file below `test/` and words that stand in it, outside of comments. */
type Proof = readonly [file: string, words: string];

/** A promise: id, meaning, proofs. */
type Kept = readonly [id: string, meaning: string, ...proofs: Proof[]];

const DATA = 'http/security-data.test.ts';
const ACCOUNTS = 'http/security-accounts.test.ts';
const EDGES = 'http/security-edges.test.ts';
const LIMITS = 'http/security-limits.test.ts';
const UPLOADS = 'http/security-uploads.test.ts';
const OPENER = 'docroot/opener.test.ts';
const BEARER = 'http/bearer-tokens.test.ts';
const OIDC = 'http/oidc-sign-in.test.ts';
const FILTERS = 'http/filters.test.ts';

/** S-P: paths. */
const paths: readonly Kept[] = [
  [
    'S-P1',
    'No spelling of dots, slashes and backslashes leads out of the folder.',
    [DATA, 'S-P1'],
    [OPENER, 'S-P1'],
  ],
  [
    'S-P2',
    'NUL, overlong UTF-8 and doubly encoded names mean nothing.',
    [DATA, '/%c0%ae%c0%ae/'],
    [DATA, '/a%00.csv'],
    ['http/addresses.test.ts', '/api/%252e%252e%252fetc/passwd'],
  ],
  [
    'S-P3',
    'Absolute paths, drives and shares mean nothing.',
    [DATA, '//etc/passwd'],
    ['http/raw-requests.test.ts', 'S-P3'],
  ],
  [
    'S-P4',
    'Hidden, state, temporary and control files and the source of handlers are as if absent.',
    [DATA, 'S-P4'],
    [OPENER, 'S-P4'],
  ],
  [
    'S-P5',
    'Links that lead outside are not there.',
    ['http/discovery.test.ts', 'S-P5'],
    [OPENER, 'S-P5'],
  ],
  [
    'S-P6',
    'Nothing is written through such a link.',
    [OPENER, 'S-P6'],
    ['http/uploads.test.ts', 'of a link leads to what the link leads to'],
  ],
  [
    'S-P7',
    'A file that becomes a link between check and opening gives nothing from outside.',
    ['http/discovery.test.ts', 'S-P7'],
    [OPENER, 'S-P7'],
  ],
  [
    'S-P8',
    'Names with backslashes are names.',
    [OPENER, 'S-P8'],
    ['http/addresses.test.ts', '/api/deep\\\\er/and/deeper/leaf/'],
  ],
  [
    'S-P9',
    'Device names, final dots and other normal forms make no second file.',
    ['http/addresses.test.ts', 'S-P9'],
    ['http/uploads.test.ts', 'CON.csv'],
  ],
  [
    'S-P10',
    'Every spelling of a closed path is as closed.',
    [DATA, 'S-P10'],
    ['http/dataset-rights.test.ts', 'S-P10'],
  ],
  [
    'S-P11',
    'What is deleted and made again opens nothing to those who had the old one.',
    ['http/uploads.test.ts', 'belongs to whoever uploaded it last, after it was deleted'],
    ['http/hidden-names.test.ts', 'S-K3'],
  ],
  [
    'S-P12',
    'Pipes, devices and sockets are not there, and nobody waits for them.',
    ['http/discovery.test.ts', 'S-P12'],
    [OPENER, 'S-P12'],
  ],
];

/** S-U: uploads and code. */
const uploads: readonly Kept[] = [
  ['S-U1', 'Nobody uploads code.', [UPLOADS, 'S-U1']],
  ['S-U2', 'Nor under a disguise.', [UPLOADS, 'S-U2']],
  ['S-U3', 'Nor what tells a runtime how to run.', [UPLOADS, 'S-U3']],
  ['S-U4', 'No stored file becomes a handler, no handler is replaced.', [UPLOADS, 'S-U4']],
  ['S-U5', 'Archives are stored, never unpacked.', [UPLOADS, 'S-U5']],
  [
    'S-U6',
    'What is stored acts for nobody who opens it.',
    [UPLOADS, 'S-U6'],
    ['http/upload-bodies.test.ts', 'is stored inert whatever it is'],
  ],
  [
    'S-U7',
    'Uploading needs the right; what is there is replaced only where that is allowed.',
    [UPLOADS, 'S-U7'],
    ['http/uploads.test.ts', 'refuse what exists'],
  ],
  [
    'S-U8',
    'A body is as long as it says, and no longer than allowed.',
    [UPLOADS, 'S-U8'],
    ['http/upload-bodies.test.ts', 'is told as soon as it is passed'],
  ],
  [
    'S-U9',
    'A part of an upload is never seen.',
    [UPLOADS, 'S-U9'],
    ['http/upload-bodies.test.ts', 'S-U9'],
    ['http/upload-faults.test.ts', 'killed before a new file has its name'],
  ],
  [
    'S-U10',
    'Handlers follow their files, and never a temporary or uploaded one.',
    ['http/handlers-reload.test.ts', 'DS-'],
    ['http/uploads.test.ts', 'handlers may be uploaded where the configuration says so'],
  ],
];

/** S-X: what others' content does in a browser. */
const content: readonly Kept[] = [
  [
    'S-X1',
    'Stored HTML runs in an origin of its own.',
    [UPLOADS, 'S-X1'],
    ['http/content.test.ts', 'HTML and SVG are sandboxed'],
  ],
  ['S-X2', 'So does SVG.', ['http/content.test.ts', 'HTML and SVG are sandboxed']],
  [
    'S-X3',
    'Markdown is shown without what acts.',
    ['http/document-corpus.test.ts', 'a Markdown document with'],
    ['plugins/document-corpus.ts', 'mutation by math'],
  ],
  [
    'S-X4',
    'Other XML runs nothing at all.',
    ['http/content.test.ts', 'XML runs nothing at all'],
    [UPLOADS, 'page.mathml'],
  ],
  [
    'S-X5',
    'Values are text on every page.',
    ['http/search-hostile.test.ts', 'markup in files is text in snippets and pages'],
    ['server/public-pages.test.ts', 'lets no text become markup'],
  ],
  [
    'S-X6',
    'So are names of files, columns, users, groups and keys.',
    ['http/addresses.test.ts', 'S-X6'],
    ['browser/hostile-names.test.ts', 'no page runs, breaks or hides anything because of a name'],
  ],
  [
    'S-X7',
    'JSON is JSON, and no script of another site can use it.',
    [DATA, 'S-X7'],
    ['http/html-clients.test.ts', 'S-X7'],
  ],
  [
    'S-X8',
    'What is asked for is never markup in an answer.',
    ['http/html-clients.test.ts', 'S-X8'],
    ['http/login.test.ts', 'S-X8'],
  ],
  ['S-X9', 'Nor in an error.', [DATA, 'S-X9'], ['http/html-clients.test.ts', 'S-X9']],
  ['S-X10', 'No value splits a header.', [DATA, 'S-X10'], ['http/raw-requests.test.ts', 'S-X10']],
  [
    'S-X11',
    'Exports for spreadsheets hold no formulas that users wrote.',
    ['http/audit-export.test.ts', 'S-X11'],
    ['tables/encode-xlsx.test.ts', 'formula'],
  ],
];

/** S-A: accounts and sessions. */
const accounts: readonly Kept[] = [
  [
    'S-A1',
    'Without a credential there is 401 and no data.',
    [ACCOUNTS, 'S-A1'],
    ['http/credentials.test.ts', 'S-A1'],
  ],
  [
    'S-A2',
    'There are no accounts at first, and others cannot make the first one.',
    [ACCOUNTS, 'S-A2'],
    ['http/first-run.test.ts', 'S-A2'],
  ],
  [
    'S-A3',
    'Signing in does not tell which names exist, nor by its time.',
    ['http/login.test.ts', 'S-A3'],
    ['faults/recipes/sign-in.ts', 'S-A3'],
  ],
  [
    'S-A4',
    'Failures lock out the pair of name and address; live sessions go on.',
    ['http/login-throttle.test.ts', 'S-A4'],
  ],
  [
    'S-A5',
    'Failures of many names lock out their address.',
    ['http/login-throttle.test.ts', 'S-A5'],
  ],
  [
    'S-A6',
    'A session that was ended is dead at the next request.',
    [ACCOUNTS, 'S-A6'],
    ['http/sessions.test.ts', 'S-A6'],
  ],
  [
    'S-A7',
    'A planted session is never taken over.',
    [ACCOUNTS, 'S-A7'],
    ['http/login.test.ts', 'S-A7'],
  ],
  [
    'S-A8',
    'Credentials in an address are not taken, and in no log.',
    [ACCOUNTS, 'S-A8'],
    ['http/credentials.test.ts', 'S-A8'],
  ],
  ['S-A9', 'Of two who make one name at once, one does; twins are one name.', [ACCOUNTS, 'S-A9']],
  [
    'S-A10',
    'Cookies have exactly the attributes of the contract.',
    ['http/login.test.ts', 'S-A10'],
  ],
  [
    'S-A11',
    'Secrets are compared by their digests, in constant time.',
    ['accounts/api-keys.test.ts', 'digest'],
    ['accounts/oidc-tokens.test.ts', 'unknown keys'],
  ],
  [
    'S-A12',
    'Expired and revoked keys are 401, narrow ones 403.',
    ['http/api-keys.test.ts', 'S-A12'],
  ],
  [
    'S-A13',
    'Passwords count as typed, to their last byte, up to their limit.',
    [ACCOUNTS, 'S-A13'],
  ],
  [
    'S-A14',
    'Of several credentials each must be good.',
    [ACCOUNTS, 'S-A14'],
    ['http/dataset-rights.test.ts', 'and none with a bad credential beside a good one'],
  ],
];

/** S-C: requests of other sites. */
const crossSite: readonly Kept[] = [
  [
    'S-C1',
    'A change that another site asks for is refused.',
    [ACCOUNTS, 'S-C1'],
    ['http/csrf.test.ts', 'S-C1'],
  ],
  [
    'S-C2',
    'So is one of a sibling, of no origin, or of one that looks alike.',
    [ACCOUNTS, 'S-C2'],
    ['http/csrf.test.ts', 'S-C2'],
  ],
  ['S-C3', 'A session needs its token for changes.', [ACCOUNTS, 'S-C3']],
  [
    'S-C4',
    'The token of another session or a planted one is of no use.',
    [ACCOUNTS, 'S-C4'],
    ['http/csrf.test.ts', 'S-C4'],
  ],
  [
    'S-C5',
    'A change is no form that says it is something else.',
    [ACCOUNTS, 'S-C5'],
    ['http/csrf.test.ts', 'S-C5'],
  ],
  [
    'S-C6',
    'Reading changes nothing.',
    [ACCOUNTS, 'S-C6'],
    ['http/built-in-methods.test.ts', 'S-C6'],
  ],
  ['S-C7', 'No token stands in an address.', [ACCOUNTS, 'S-C7'], ['http/csrf.test.ts', 'S-C7']],
  [
    'S-C8',
    'Nobody is signed in by another site.',
    [ACCOUNTS, 'S-C8'],
    ['http/login.test.ts', 'S-C8'],
  ],
  ['S-C9', 'Keys need no token.', [ACCOUNTS, 'S-C9'], ['http/api-keys.test.ts', 'S-C9']],
];

/** S-Z: rights. */
const rights: readonly Kept[] = [
  [
    'S-Z1',
    'Administration is for administrators.',
    [DATA, 'S-Z1'],
    ['http/route-matrix.test.ts', 'route'],
  ],
  [
    'S-Z2',
    'What one may not read does not exist, in any list, search, figure or protocol.',
    [DATA, 'S-Z2'],
    ['mcp/rights.test.ts', 'finds nothing of it through any tool'],
    ['http/search-rights.test.ts', 'finds nothing, whatever there is'],
  ],
  ['S-Z3', 'The id of a row counts in its own file only.', [DATA, 'S-Z3']],
  [
    'S-Z4',
    'No side door tells of a closed file: HEAD, parts, tags, formats.',
    [DATA, 'S-Z4'],
    ['http/dataset-rights.test.ts', 'S-Z4'],
  ],
  ['S-Z5', 'Cursors and tags of others are of no use.', ['http/hidden-names.test.ts', 'S-Z5']],
  [
    'S-Z6',
    'No answer holds a hash or a secret.',
    [DATA, 'S-Z6'],
    ['http/hidden-names.test.ts', 'S-Z6'],
  ],
  [
    'S-Z7',
    'A right to one file is none to its neighbours or their list.',
    [DATA, 'S-Z7'],
    ['http/hidden-names.test.ts', 'S-Z7'],
  ],
  [
    'S-Z8',
    'Members nobody asked for change nothing.',
    [DATA, 'S-Z8'],
    ['http/admin-hostile.test.ts', 'S-Z8'],
  ],
  [
    'S-Z9',
    'The last administrator stays; users administer nobody.',
    [LIMITS, 'S-Z9'],
    ['http/administration.test.ts', 'two administrators who remove each other at once'],
  ],
  [
    'S-Z10',
    'A right that is taken away ends long answers and streams within seconds.',
    ['http/large-tables.test.ts', 'S-Z10'],
    ['http/long-answers.test.ts', 'ends with the right'],
    ['http/event-services.test.ts', 'ends with the right to read'],
    [DATA, 'S-W5'],
  ],
  [
    'S-Z11',
    'Of a change with a forbidden part nothing is done.',
    ['http/change-requests.test.ts', 'S-Z11'],
  ],
];

/** S-Q: queries. */
const queries: readonly Kept[] = [
  [
    'S-Q1',
    'SQL in any value, name, sort, cursor or word is literal or refused.',
    [DATA, 'S-Q1'],
    ['http/hostile-queries.test.ts', 'S-Q1'],
  ],
  ['S-Q2', 'A column may be called like a statement.', [FILTERS, 'S-Q2']],
  [
    'S-Q3',
    'Paths into JSON are names like others.',
    [FILTERS, 'what a filter is refused for'],
    ['http/filters.test.ts', ',$.a\\n'],
  ],
  ['S-Q4', 'Names of members of objects pollute nothing.', [DATA, 'S-Q4'], [FILTERS, 'S-Q4']],
  [
    'S-Q5',
    'There are no hidden columns: whoever may read a file may read all of it.',
    [FILTERS, 'what a filter is refused for'],
  ],
  [
    'S-Q6',
    'A parameter that is none restricts nothing and opens nothing.',
    ['http/hostile-queries.test.ts', 'S-Q6'],
  ],
  [
    'S-Q7',
    'Columns cannot be renamed in a query of a file.',
    ['http/rows.test.ts', 'is refused by name'],
  ],
  [
    'S-Q8',
    'Errors are the same for what is hidden and what is absent.',
    ['http/hidden-names.test.ts', 'the same for what exists and what does not'],
  ],
  [
    'S-Q9',
    'The search language reaches no file, no statement, no function of SQLite.',
    [DATA, 'S-Q9'],
    ['http/hostile-queries.test.ts', 'S-Q9'],
  ],
];

/** S-O and S-J: identity providers and their tokens. */
const providers: readonly Kept[] = [
  ['S-O1', 'A provider is asked at its configured address and nowhere else.', [OIDC, 'S-O1']],
  [
    'S-O2',
    'Its answers are bounded in size and time, and redirects are not followed.',
    ['accounts/oidc-provider.test.ts', 'a dripping answer is given up in time'],
    ['accounts/oidc-provider.test.ts', 'metadata that is refused'],
  ],
  ['S-O3', 'It must be who it says.', [OIDC, 'S-O3']],
  [
    'S-O4',
    'A storm of sign-ins is no storm of requests to it.',
    [OIDC, 'S-O4'],
    ['accounts/oidc-provider.test.ts', 'one request for all who wait'],
  ],
  [
    'S-O5',
    'A callback counts once, for the browser and the request that it answers.',
    [OIDC, 'S-O5'],
  ],
  ['S-O6', 'Accounts are never linked by their mail address.', [OIDC, 'S-O6']],
  ['S-O7', 'The same name at two providers is two people.', [OIDC, 'S-O7']],
  ['S-O8', 'Nobody is sent elsewhere after signing in.', [OIDC, 'S-O8']],
  ['S-J1', 'A token is signed, by a key of the provider.', [BEARER, 'alg none (J1)']],
  ['S-J2', 'With the algorithm of the key.', [BEARER, 'another alg of the same key (J2)']],
  [
    'S-J3',
    'Its header decides about no key and causes no storm.',
    [BEARER, 'an unknown key id (J3)'],
    [BEARER, 'a thousand unknown keys are one request'],
  ],
  ['S-J4', 'It is for us, of the issuer, and of today.', [BEARER, 'another audience (J4)']],
  ['S-J5', 'It is an access token.', [BEARER, 'an ID token (J5)']],
  ['S-J6', 'It is well formed and short.', [BEARER, 'no UTF-8 (J6)']],
  [
    'S-J7',
    'A key that was taken back stops counting.',
    ['accounts/oidc-tokens.test.ts', 'a key that was taken back stops counting'],
  ],
];

/** S-M, S-W and S-H: programs, streams, hosts. */
const doors: readonly Kept[] = [
  [
    'S-M1',
    'MCP refuses other sites.',
    [DATA, 'S-M1'],
    ['mcp/transport.test.ts', 'another origin is 403'],
  ],
  [
    'S-M2',
    'And other hosts, before anything else.',
    [DATA, 'S-M2'],
    ['mcp/transport.test.ts', 'another host is 421'],
  ],
  [
    'S-M3',
    'Loopback is no credential.',
    [DATA, 'S-M3'],
    ['mcp/oidc.test.ts', 'is led to the identity provider'],
  ],
  [
    'S-M4',
    'A token for somebody else is refused, and none is passed on.',
    ['mcp/oidc.test.ts', 'that is wrong is refused without leading anywhere'],
  ],
  ['S-M5', 'There are no sessions to take over.', ['mcp/transport.test.ts', 'keeps no sessions']],
  [
    'S-M6',
    'Tools have the rights of the caller.',
    ['mcp/rights.test.ts', 'a user without the right'],
    ['mcp/tools.test.ts', 'tells rights before existence'],
  ],
  ['S-M7', 'Orders in the data are data.', ['mcp/hostile.test.ts', 'orders in the data are data']],
  [
    'S-M8',
    'A call whose client goes away is given up.',
    ['mcp/hostile.test.ts', 'a call whose client goes away is given up'],
  ],
  [
    'S-W1',
    'There are no WebSockets to be opened by other sites.',
    [LIMITS, 'S-W1'],
    ['http/raw-requests.test.ts', 'WebSocket upgrades end in an ordinary answer'],
  ],
  ['S-W2', 'Streams need a credential.', [DATA, 'S-W2']],
  ['S-W3', 'And the right to what they show.', [DATA, 'S-W3']],
  [
    'S-W4',
    'A user has so many streams, and a slow reader does not fill the memory.',
    ['http/event-services.test.ts', 'is limited by user, and ends with the right to read'],
  ],
  ['S-W5', 'A stream ends with its credential.', [DATA, 'S-W5']],
  [
    'S-H1',
    'A foreign host gets nothing.',
    [EDGES, 'S-H1'],
    ['http/hosts-and-proxies.test.ts', 'S-H1'],
  ],
  [
    'S-H2',
    'What only a proxy may say counts from a proxy only.',
    [EDGES, 'S-H2'],
    ['http/hosts-and-proxies.test.ts', 'S-H2'],
  ],
  ['S-H3', 'Changing it evades no limit.', ['http/login-throttle.test.ts', 'S-H3']],
  [
    'S-H4',
    'No header makes anybody somebody else.',
    [EDGES, 'S-H4'],
    ['http/credentials.test.ts', 'S-H4'],
  ],
  ['S-H5', 'Links that are made name the configured address.', [OIDC, 'S-H5']],
  [
    'S-H6',
    'No path redirects to another site.',
    [EDGES, 'S-H6'],
    ['http/html-clients.test.ts', 'S-H6'],
  ],
  ['S-H7', 'Other origins read nothing.', [EDGES, 'S-H7'], ['http/methods.test.ts', 'S-H7']],
];

/** S-K, S-L and S-D: caches, logs, exhaustion. */
const upkeep: readonly Kept[] = [
  [
    'S-K1',
    'What is for one caller is kept by no cache.',
    [EDGES, 'S-K1'],
    ['http/conditional-reads.test.ts', 'S-K1'],
  ],
  [
    'S-K2',
    'Each caller gets the own view of an address.',
    [EDGES, 'S-K2'],
    ['http/credentials.test.ts', 'S-K2'],
  ],
  [
    'S-K3',
    'A tag opens nothing to those without the right.',
    [EDGES, 'S-K3'],
    ['http/hidden-names.test.ts', 'S-K3'],
  ],
  ['S-K4', 'A tag tells nothing of the file.', [EDGES, 'S-K4']],
  ['S-K5', 'No ending makes an answer look like a public file.', [EDGES, 'S-K5']],
  [
    'S-L1',
    'One request is one line in the log, whatever it holds.',
    [EDGES, 'S-L1'],
    ['http/log-lines.test.ts', 'S-L1'],
    ['faults/recipes/audit-trail.ts', 'S-L1'],
  ],
  [
    'S-L2',
    'A changed audit is found out, with its first bad entry.',
    ['accounts/audit-chain.test.ts', 'is found out, with the first bad entry'],
    ['http/audit-entries.test.ts', 'svc check names an entry that was changed'],
  ],
  [
    'S-L3',
    'Neither log nor audit holds a secret.',
    [EDGES, 'S-L3'],
    ['http/log-lines.test.ts', 'S-L3'],
    ['http/audit-entries.test.ts', 'no cell value, password or key stands anywhere in the audit'],
  ],
  [
    'S-L4',
    'An event is never an audit entry, nor in an index its sender may not write.',
    [LIMITS, 'S-L4'],
    ['http/event-services.test.ts', 'settings of a key give defaults and limit it'],
  ],
  [
    'S-L5',
    'The audit tells who did what, when, from where, and how it ended.',
    [EDGES, 'S-L5'],
    ['http/audit-entries.test.ts', 'an account leaves entries'],
  ],
  [
    'S-D1',
    'Connections that drip keep nobody from being served.',
    ['http/raw-requests.test.ts', 'S-D1'],
    ['faults/recipes/slow-senders.ts', 'S-D1'],
  ],
  ['S-D2', 'Many costly questions of one caller are put off, others are served.', [LIMITS, 'S-D2']],
  ['S-D3', 'A large body is refused before it costs anything.', ['http/login.test.ts', 'S-D3']],
  [
    'S-D4',
    'Patterns, filters and texts made to be slow are answered in time or refused.',
    ['http/hostile-queries.test.ts', 'patterns that take other engines forever'],
    ['base/quoted-text.test.ts', 'texts of open quotes are read in one walk'],
    ['http/long-inputs.test.ts', 'a path of a hundred thousand segments'],
  ],
  ['S-D5', 'What is remembered is bounded.', [LIMITS, 'S-D5']],
  [
    'S-D6',
    'Uploads, events and searches are limited by size and rate.',
    [LIMITS, 'S-D6'],
    ['http/event-dialects.test.ts', 'read-only mode and rates refuse in the shape of the dialect'],
  ],
];

/** F: faults survived. */
const faults: readonly Kept[] = [
  [
    'F1',
    'Killed at random, no acknowledged write is lost and no file is torn.',
    ['faults/recipes/random-kill.ts', 'R4'],
    ['faults/recipes/state-kill.ts', 'R5d'],
    ['faults/recipes/event-kill.ts', 'R5e'],
  ],
  [
    'F2',
    'Nor when killed at any chosen system call.',
    ['faults/recipes/targeted-kill.ts', 'R5'],
    ['faults/recipes/version-kill.ts', 'R5v'],
    ['faults/recipes/acknowledgement-order.ts', 'R5b'],
    ['faults/recipes/event-order.ts', 'R5g'],
    ['http/workbook-siblings.test.ts', 'killed between replacing a workbook and following'],
  ],
  [
    'F3',
    'Another program that reads a file finds one version of it, whole.',
    ['faults/recipes/external-reader.ts', 'R3'],
  ],
  [
    'F4',
    'A full disk refuses, keeps what is there, and is forgotten when there is room.',
    ['faults/recipes/full-disk.ts', 'R6'],
    ['http/upload-faults.test.ts', 'a full disk refuses with 507'],
  ],
  [
    'F5',
    'A write that is cut short is never acknowledged.',
    ['faults/recipes/short-write.ts', 'R6b'],
  ],
  ['F6', 'A failing sync is a failure, once.', ['faults/recipes/failing-calls.ts', 'F6, F7']],
  [
    'F7',
    'So is a failing rename, a folder or a file that cannot be written.',
    ['faults/recipes/failing-calls.ts', 'F6, F7'],
    ['http/locks.test.ts', 'DS-85'],
  ],
  [
    'F8',
    'Without descriptors requests are refused, and it recovers.',
    ['faults/recipes/descriptors.ts', 'F8'],
  ],
  [
    'F9',
    'A file made to eat memory costs a worker, not the server.',
    ['http/binary-corpus.test.ts', 'F9'],
    ['http/document-corpus.test.ts', 'F9'],
    ['processes/child-pool.test.ts', 'F9'],
  ],
  [
    'F10',
    'Edits of other programs are kept or answered with a conflict.',
    ['faults/external-edits-http.test.ts', 'F10'],
    ['faults/recipes/counters.ts', 'R2'],
  ],
  [
    'F11',
    'When the clock jumps, what expired stays so and limits hold.',
    ['faults/recipes/clock.ts', 'R12'],
  ],
  [
    'F12',
    'Whatever a handler does, others are served and it is back.',
    ['faults/recipes/handlers.ts', 'R11'],
    ['http/handlers-faults.test.ts', 'F12'],
  ],
  [
    'F13',
    'Told to end, it finishes what it began, in time.',
    ['faults/recipes/termination.ts', 'F13'],
  ],
  [
    'F14',
    'Two servers never share a state; a killed one keeps nobody out.',
    ['faults/recipes/second-instance.ts', 'F14'],
    ['http/unusable-state.test.ts', 'F14'],
  ],
  [
    'F15',
    'A damaged state is refused, never begun anew.',
    ['faults/recipes/damaged-state.ts', 'F15'],
    ['http/unusable-state.test.ts', 'F15'],
  ],
  [
    'F16',
    'When the audit cannot be written, data are read on, and a changed audit is found out.',
    ['faults/recipes/audit-trail.ts', 'F16'],
    ['http/audit-entries.test.ts', 'an entry that cannot be written is logged'],
  ],
  [
    'F17',
    'A damaged file says so and harms nothing else.',
    ['faults/recipes/damaged-files.ts', 'F17'],
    ['faults/recipes/damaged-copies.ts', 'F17b'],
    ['faults/recipes/mutated-files.ts', 'F17c'],
    ['faults/recipes/hostile-documents.ts', 'F17d'],
  ],
  [
    'F18',
    'Server and command line write to one state side by side.',
    [
      'http/command-line-and-server.test.ts',
      'makes an account that signs in at once, without a restart',
    ],
  ],
  [
    'F19',
    'Killed again while it starts, it is as after one kill.',
    ['faults/recipes/start-up-kill.ts', 'F19'],
  ],
  [
    'F20',
    'Clients that vanish or stand still cost the others nothing.',
    ['faults/recipes/vanishing-client.ts', 'F20'],
    ['faults/recipes/bystander.ts', 'bystander'],
    ['http/upload-bodies.test.ts', 'F20'],
  ],
];

/** B: bad input, by what reads it. */
const inputs: readonly Kept[] = [
  [
    'B-C',
    'Text tables: bytes, quotes, delimiters, columns, values.',
    ['http/csv-corpus.test.ts', 'gives what the contract says (B-C)'],
  ],
  [
    'B-X',
    'Workbooks: archives, references, parts.',
    ['http/binary-corpus.test.ts', 'is refused with its reason everywhere'],
    ['plugins/workbook-archive.test.ts', 'is refused with a reason'],
  ],
  [
    'B-L',
    'Legacy workbooks: chains, records, texts.',
    ['plugins/workbook-legacy.test.ts', 'legacy'],
  ],
  ['B-P', 'Parquet: footers, pages, counts, codecs.', ['plugins/parquet-damage.test.ts', 'file']],
  [
    'B-J',
    'JSON bodies.',
    ['http/request-bodies.test.ts', 'values of the wrong type in bodies of accounts'],
    ['server/json-body.test.ts', 'nest'],
  ],
  [
    'B-Q',
    'Parameters, filters, sorts, cursors.',
    ['http/hostile-queries.test.ts', 'B-Q'],
    [FILTERS, 'B-Q'],
  ],
  ['B-R', 'Patterns.', ['http/hostile-queries.test.ts', 'B-R']],
  [
    'B-F',
    'Words and the search language.',
    ['http/search-hostile.test.ts', 'any text at all is answered with a list'],
    ['http/hostile-queries.test.ts', 'words are found in them'],
  ],
  ['B-H', 'HTTP by hand.', ['http/raw-requests.test.ts', 'a body with two lengths']],
  ['B-U', 'Forms with files.', ['http/upload-bodies.test.ts', 'a body that is no good']],
  ['B-M', 'Documents and media.', ['http/document-corpus.test.ts', 'a media file with']],
  [
    'B-I',
    'Events.',
    ['http/event-dialects.test.ts', 'one event in, one event out, whatever it holds'],
    ['http/events.test.ts', 'compressed bodies, and bombs'],
  ],
  [
    'B-N',
    'Messages of programs.',
    ['mcp/transport.test.ts', 'B-N'],
    ['mcp/hostile.test.ts', 'is answered in the words of the protocol'],
  ],
];

/** L: loads held. Their rates are benchmarks; these tests show that nothing is lost or refused under them. */
const loads: readonly Kept[] = [
  ['L1', 'Pages of rows for 64 clients.', ['http/large-tables.test.ts', 'L1']],
  ['L2', 'Single rows by key.', ['faults/recipes/soak.ts', '_row_id']],
  [
    'L3',
    'Edits, each durable before its answer.',
    ['faults/recipes/soak.ts', 'edits'],
    ['http/concurrent-edits.test.ts', 'DS-'],
  ],
  [
    'L4',
    'Reads beside writes.',
    ['faults/recipes/soak.ts', 'reads'],
    ['faults/recipes/external-reader.ts', 'R3'],
  ],
  ['L5', 'Events in batches, with their index.', ['faults/recipes/soak.ts', 'events']],
  [
    'L6',
    'Idle connections and streams beside readers.',
    ['faults/recipes/descriptors.ts', 'idle clients'],
  ],
  [
    'L7',
    'More than it can do: the surplus is put off, and it recovers.',
    [LIMITS, 'S-D2'],
    ['faults/recipes/descriptors.ts', 'recover'],
  ],
  ['L8', 'Minutes and hours of mixed load: nothing grows.', ['faults/recipes/soak.ts', 'L8']],
  ['L9', 'One client at its limits beside a normal one.', ['http/hostile-queries.test.ts', 'L9']],
  [
    'L10',
    'A start, also after a kill, within two seconds.',
    ['faults/product-subject.ts', 'well after'],
  ],
  [
    'L11',
    'A storm of wrong passwords.',
    ['http/login-throttle.test.ts', 'L11'],
    ['faults/recipes/sign-in.ts', 'L11'],
  ],
];

/** All of them. */
export const promises: readonly Kept[] = [
  ...paths,
  ...uploads,
  ...content,
  ...accounts,
  ...crossSite,
  ...rights,
  ...queries,
  ...providers,
  ...doors,
  ...upkeep,
  ...faults,
  ...inputs,
  ...loads,
];
