/**
 * The functions of a statement: those of SQLite that compute from their arguments alone. The others read files or the
 * database itself (`load_extension`, `fts3_tokenizer`, `sqlite_…`, those of full text and of trees) or tell of it.
 */
const NAMES = `
  -> ->> abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower
  ltrim max min nullif octet_length printf quote random randomblob regexp replace round rtrim sign substr
  substring trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
  acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
  radians sin sinh sqrt tan tanh trunc
  avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
  current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
  json json_array json_array_insert json_array_length json_error_position json_extract json_group_array
  json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set
  json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object
  jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set subtype`;

export const SQL_FUNCTIONS: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/));

/** Functions that are tables. */
export const SQL_TABLE_FUNCTIONS: ReadonlySet<string> = new Set(['json_each', 'json_tree']);
