/** Numbers of the Parquet format (parquet-format, parquet.thrift): types, encodings and field ids used here. */

/** At both ends of a file. */
export const MAGIC = new TextEncoder().encode('PAR1');

export const Physical = {
  boolean: 0,
  int32: 1,
  int64: 2,
  int96: 3,
  float: 4,
  double: 5,
  bytes: 6,
  fixed: 7,
} as const;

/** Whether a field may be missing or many. */
export const Repetition = { required: 0, optional: 1, repeated: 2 } as const;

/** Encodings of levels and values. */
export const Encoding = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  bitPacked: 4,
  deltaBinary: 5,
  deltaLength: 6,
  deltaBytes: 7,
  dictionary: 8,
  byteStreamSplit: 9,
} as const;

/** Names of the encodings by number. */
export const ENCODING_NAMES = [
  'PLAIN',
  'GROUP_VAR_INT',
  'PLAIN_DICTIONARY',
  'RLE',
  'BIT_PACKED',
  'DELTA_BINARY_PACKED',
  'DELTA_LENGTH_BYTE_ARRAY',
  'DELTA_BYTE_ARRAY',
  'RLE_DICTIONARY',
  'BYTE_STREAM_SPLIT',
] as const;

export const PageType = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;

/** Legacy annotations of a schema element. */
export const Converted = {
  utf8: 0,
  map: 1,
  mapKeyValue: 2,
  list: 3,
  enum: 4,
  decimal: 5,
  date: 6,
  timeMillis: 7,
  timeMicros: 8,
  timestampMillis: 9,
  timestampMicros: 10,
  uint8: 11,
  uint64: 14,
  int8: 15,
  int32: 17,
  int64: 18,
  json: 19,
  interval: 21,
} as const;

/** Members of the union of logical types. */
export const Logical = {
  string: 1,
  map: 2,
  list: 3,
  enum: 4,
  decimal: 5,
  date: 6,
  time: 7,
  timestamp: 8,
  integer: 10,
  json: 12,
  uuid: 14,
  float16: 15,
} as const;

/** Field ids of the footer's struct. */
export const FileField = {
  version: 1,
  schema: 2,
  rows: 3,
  rowGroups: 4,
  keyValues: 5,
  createdBy: 6,
  columnOrders: 7,
  encryption: 8,
} as const;

/** Field ids of a schema element. */
export const SchemaField = {
  type: 1,
  typeLength: 2,
  repetition: 3,
  name: 4,
  children: 5,
  converted: 6,
  scale: 7,
  precision: 8,
  logical: 10,
} as const;

/** Field ids of a row group. */
export const GroupField = {
  columns: 1,
  bytes: 2,
  rows: 3,
  sorting: 4,
  offset: 5,
  compressedBytes: 6,
  ordinal: 7,
} as const;

/** Field ids of a column chunk. */
export const ChunkField = {
  filePath: 1,
  fileOffset: 2,
  meta: 3,
  offsetIndexOffset: 4,
  offsetIndexLength: 5,
  columnIndexOffset: 6,
  columnIndexLength: 7,
  crypto: 8,
  encryptedMeta: 9,
} as const;

export const MetaField = {
  type: 1,
  encodings: 2,
  path: 3,
  codec: 4,
  values: 5,
  bytes: 6,
  compressedBytes: 7,
  dataOffset: 9,
  indexOffset: 10,
  dictionaryOffset: 11,
  statistics: 12,
  encodingStats: 13,
  bloomOffset: 14,
  bloomLength: 15,
  sizeStatistics: 16,
  geoStatistics: 17,
} as const;

/** Field ids of a page header. */
export const PageField = {
  type: 1,
  bytes: 2,
  compressedBytes: 3,
  crc: 4,
  data: 5,
  dictionary: 7,
  dataV2: 8,
} as const;
