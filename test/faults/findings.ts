/** What the recipes and attacks on the running executable found, and the test that keeps it from coming back. */

/** One finding: how it was found, what it was, and the test that fails without its remedy. */
type Finding = readonly [foundBy: string, what: string, test: string];

/** Newest first. */
export const findings: readonly Finding[] = [
  [
    'attack',
    'A list over a fresh connection had the rows before a replacement: it is read in the midst of a turn of the event loop, of which all requests shared one look at the file.',
    'faults/recipes/replaced-file.ts',
  ],
  [
    'attack',
    'Beside a program that replaces a file every 25 ms one read in five and most changes were refused with 409.',
    'http/replaced-files.test.ts',
  ],
  [
    'attack',
    'A path of 100,000 segments held the event loop for minutes: every beginning of it was tried as the name of a handler.',
    'http/long-inputs.test.ts',
  ],
  [
    'attack',
    'Names of 200 KB that were asked for in vain went into audit and log whole: a plain user could add 70 MB in ten seconds.',
    'http/long-inputs.test.ts',
  ],
  [
    'attack',
    'A row of 400,000 unknown columns was sorted for seconds to name the first of them; a form of half a million fields was taken apart.',
    'http/long-inputs.test.ts',
  ],
  [
    'attack',
    'A query of 100,000 parameters was repeated in every link of a page.',
    'http/long-inputs.test.ts',
  ],
  [
    'review',
    'Quotes that are never closed took the square of their number in companions, event terms and parts of forms.',
    'base/quoted-text.test.ts',
  ],
  [
    'review',
    'A long export went on after its reader had lost the right to it.',
    'http/large-tables.test.ts',
  ],
  [
    'review, by kill',
    'Killed between replacing a workbook and following with its sheets, the rows of the other sheets got new ids.',
    'http/workbook-siblings.test.ts',
  ],
  [
    'review, by trigger',
    'An upload whose owner could not be noted any more lay in the folder without an owner, while its sender was told it had failed.',
    'http/upload-faults.test.ts',
  ],
  [
    'F19',
    'A child that was still starting when its server was killed makes its socket after the next server has tidied up, and takes it away at once; the recipe looked too early.',
    'faults/recipes/start-up-kill.ts',
  ],
  [
    'F17b',
    'Row ids beyond any ever assigned were taken from a damaged copy.',
    'faults/recipes/damaged-copies.ts',
  ],
  [
    'F17c, F17d, F20',
    'Limits of time of these recipes did not count for shared cores: they failed on b326b99becd6 at loads of 20 to 46 (a file without an answer for 10 s, documents answered 503 for 20 s, others who waited for up to 17 s). On a machine of their own they passed.',
    'support/patience.ts',
  ],
  [
    'load',
    'Who waited for a worker got none from readers that stood still, until its own limit of time ended: nothing looked again.',
    'children/child-stream.test.ts',
  ],
  [
    'load',
    'A client that left in the middle of an answer was three requests in log and metrics, and one that left before it an error of the server.',
    'server/responses.test.ts',
  ],
  [
    'L8',
    'Under searches that follow each other without a gap the logs of the event store and of its index grew as long as that went on: SQLite begins a log anew only while nobody reads. The index had 92 MB in the soak; the store 261 MB after a minute of three clients.',
    'events/write-ahead-log.test.ts',
  ],
  [
    'review, after L8',
    'An index of events that a process left half made was never made whole, and searches read every event from then on.',
    'events/indexer.test.ts',
  ],
  [
    'F17b',
    'A bit changed in the name of a fact that a typed copy holds about itself made every request for its file fail, as the copy was asked for the ids of its rows without being looked at (one of 300 flips).',
    'dataset/tables.test.ts',
  ],
  [
    'load',
    'A file that was mended while its broken version was still being read answered 422 once more: who asked in that moment was told what the reading had found that had begun before.',
    'http/problems.test.ts',
  ],
  [
    'L8',
    'Memory was divided into quarters of which the last could be without a sample (five or six of them), and then counted as grown.',
    'faults/resource-watch.ts',
  ],
  [
    'review, by interleaving',
    'An edit of one worksheet that was cut off, followed by an edit of another one, lost the ids of the rows of the first.',
    'dataset/tables.test.ts',
  ],
  [
    'review, by interleaving',
    'A copy could be closed to make room while it was being handed out, when all 64 others were being written.',
    'docroot/interleaved-changes.test.ts',
  ],
  [
    'review, by interleaving',
    'A restore that failed half-way left a folder without accounts, whose next server would have taken the first who came for its administrator.',
    'backup/restore-backup.test.ts',
  ],
  [
    'review, by interleaving',
    'A login or a change of password that was under way undid what an administrator had done meanwhile.',
    'auth/password-races.test.ts',
  ],
  [
    'review, by interleaving',
    'Lists of events, exports of queries and of the audit, streams of handlers and bodies that drip in outlived the right to them.',
    'http/long-answers.test.ts',
  ],
  [
    'review, by size',
    'With `events.limits.max_events` below 5,000 an import noted batches as done that the writer had refused.',
    'events/import.test.ts',
  ],
  [
    'review, by size',
    '512 events of a megabyte each were read at once: searches and lists of them were stopped for their memory, and the index of words began the same step again for ever.',
    'pipeline/long-rows.test.ts',
  ],
];
