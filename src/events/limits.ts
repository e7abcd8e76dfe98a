/** Thresholds at which one strategy replaces another. Tests lower them to cross both sides with few events. */

export const STRATEGY = {
  /** Event ids per table of the substring index; part of the file format. */
  partitionIds: 2 ** 20,
  /** Trigrams looked up of a long term; more would rarely exclude anything. */
  termTrigrams: 24,
  /** With more candidates, scanning in result order is faster. */
  termCandidates: 20_000,
  /** When the caller may read no more events than that, each is searched for the term. */
  ownEvents: 20_000,
  /** LIKE compares naively, so a long term in a long text could take minutes. */
  likeCharacters: 200,
  /** Events per step of the index: about 50 ms of work, lost when the process is killed. */
  indexStepEvents: 2_000,
  /** The same for long events: a megabyte may take a second, and a step is held in memory. */
  indexStepCharacters: 4 * 1024 * 1024,
  /** The index is rebuilt when so many events were changed since it was begun, and at least a tenth of all. */
  indexChanges: 20_000,
  /** Events of a part: writing one takes a second, and so long the writer is held by none of them. */
  partEvents: 32_768,
  partCharacters: 64 * 1024 * 1024,
  /** Of a row group, which readers load as a whole. */
  partGroupEvents: 4_096,
  /** Fewer events of an index wait for more, up to a day. */
  sealEvents: 16_384,
  /** So many small parts become one. */
  mergedParts: 4,
};
