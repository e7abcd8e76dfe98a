/**
 * Finds where each stage ends and its form, and lets its command parse it.
 *
 * Parsing ends at the first stage that cannot be read; those before it are returned, because one of them may have an
 * earlier error.
 */
import type { Query, Stage } from './ast.ts';
import type { Command } from '../command.ts';
import { commandNames, findCommand } from '../command-table.ts';
import { foreignCommand } from './foreign-words.ts';
import { flagStageEnd, parseFlagArguments } from './flag-arguments.ts';
import { MAX_BRACKETS, MAX_QUERY_BYTES, MAX_STAGES } from '../limits.ts';
import { Problem, unknownName, type Place } from './problem.ts';
import { isSqlStatement, queryOfSql } from './sql-statement.ts';
import { parseTerms } from './terms.ts';
import { TerseReader, terseStageEnd } from './terse-reader.ts';

interface ParseOptions {
  /** `events.search.implicit_terms`: a first stage without a command is a search. */
  readonly implicitTerms: boolean;
  /** Nothing behind the first stage is looked at. */
  readonly isFirstOnly?: boolean;
}

/** Commands whose terse form may hold a query in brackets. */
const HAS_BRACKETS = ['join', 'append'];
/** Terse commands in which apostrophes are ordinary characters. */
const PLAIN_APOSTROPHES = ['search', 'fields', 'table', 'head', 'tail'];

/** Never throws: `problem` says what is wrong. */
export function parseQuery(text: string, options: ParseOptions): Query {
  if (Buffer.byteLength(text) > MAX_QUERY_BYTES) {
    const problem = new Problem('too_large', `A query may have ${MAX_QUERY_BYTES} bytes`);
    return { stages: [], problem: problem.in(1, '', { at: 0, length: 1 }), notices: [] };
  }
  return new QueryParser(text, options, 0).parse(0, text.length);
}

/** Null for an implicit search. */
interface StageHead {
  readonly command: string | null;
  readonly word: Place;
  readonly isFlag: boolean;
}

class QueryParser {
  readonly #text: string;
  readonly #options: ParseOptions;
  readonly #depth: number;
  readonly #stages: Stage[] = [];
  readonly #notices: string[] = [];

  constructor(text: string, options: ParseOptions, depth: number) {
    this.#text = text;
    this.#options = options;
    this.#depth = depth;
  }

  parse(from: number, to: number): Query {
    let at = from;
    let problem: Problem | null = null;
    const most = this.#options.isFirstOnly === true ? 1 : Infinity;
    while (problem === null && this.#stages.length < most) {
      while (at < to && /[\s|]/.test(this.#text[at]!)) at++;
      if (at >= to) break;
      const head = this.#head(at, to);
      try {
        at = this.#stage(head, at, to);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        problem = error.in(this.#stages.length + 1, head.command ?? 'search', head.word);
      }
    }
    return { stages: this.#stages, problem, notices: this.#notices };
  }

  #head(at: number, to: number): StageHead {
    let end = at;
    while (end < to && !/[\s|"'(]/.test(this.#text[end]!)) end++;
    const text = this.#text.slice(at, end);
    const command = findCommand(text);
    let next = end;
    while (next < to && /\s/.test(this.#text[next]!)) next++;
    const after = this.#text.slice(next, Math.min(to, next + 2));
    const isFlagged = after.startsWith('--');
    const isBare = after === '' || after.startsWith('|');
    const isFlag =
      command !== undefined &&
      command.forms.includes('flag') &&
      (!command.forms.includes('terse') || isFlagged || isBare);
    const isFirst = this.#stages.length === 0;
    const isWord = /^[A-Za-z_][\w-]*$/.test(text);
    const isImplicit = isFirst && !command && this.#options.implicitTerms && !(isFlagged && isWord);
    const word = { at, length: Math.max(1, (end === at && !isImplicit ? at + 1 : end) - at) };
    return { command: isImplicit ? null : text, word, isFlag };
  }

  #stage(head: StageHead, at: number, to: number): number {
    if (this.#stages.length >= MAX_STAGES) {
      throw new Problem('too_large', `A query may have ${MAX_STAGES} stages`);
    }
    const command = head.command === null ? undefined : findCommand(head.command);
    if (!command && this.#stages.length === 0 && this.#depth === 0) this.#refuseSql(at, to);
    if (head.command === null) return this.#implicit(head.word, at, to);
    if (!command) {
      const { suggestion, allowed } = unknownName(head.command, commandNames);
      throw new Problem('unknown_command', `Unknown command: ${head.command}`, {
        suggestion: suggestion ?? foreignCommand(head.command),
        allowed,
      });
    }
    const from = at + head.command.length;
    return head.isFlag
      ? this.#flagStage(command, head.word, from, to)
      : this.#terseStage(command, head.word, from, to);
  }

  #refuseSql(at: number, to: number): void {
    const text = this.#text.slice(at, to);
    if (!isSqlStatement(text)) return;
    const meant = queryOfSql(text);
    const isRead =
      meant !== null &&
      parseQuery(meant, { implicitTerms: this.#options.implicitTerms }).problem === null;
    const shape = 'from <dataset> | where … | stats … BY … | sort … | head … | table …';
    const message =
      'SQL is not understood here: datasets are read by from, and words to search for stand in double quotes';
    throw new Problem('unknown_command', isRead ? message : `${message}; write ${shape}`, {
      place: { at, length: text.trimEnd().length },
      suggestion: isRead ? meant : null,
    });
  }

  #implicit(word: Place, at: number, to: number): number {
    const end = terseStageEnd(this.#text, at, to, { hasNames: false, hasBrackets: false });
    const reader = new TerseReader(this.#text, at, end);
    const terms = parseTerms(reader, (notice) => this.#note(notice));
    reader.requireEnd();
    if (terms.kind === 'word' && !terms.isQuoted) {
      const { suggestion } = unknownName(terms.word.text, commandNames);
      if (suggestion !== null) {
        this.#note(
          `'${terms.word.text}' was searched as text; did you mean the command '${suggestion}'?`,
        );
      }
    }
    this.#add('search', false, { form: 'terse', args: terms }, word, end);
    return end;
  }

  #flagStage(command: Command, word: Place, from: number, to: number): number {
    const end = flagStageEnd(this.#text, from, to);
    this.#add(command.name, true, parseFlagArguments(command, this.#text, from, end), word, end);
    return end;
  }

  #terseStage(command: Command, word: Place, from: number, to: number): number {
    const end = terseStageEnd(this.#text, from, to, {
      hasNames: !PLAIN_APOSTROPHES.includes(command.name),
      hasBrackets: HAS_BRACKETS.includes(command.name),
    });
    const reader = new TerseReader(this.#text, from, end);
    const args = command.parse!(reader, {
      parseNested: (start, stop) => this.#nested(start, stop),
      notice: (notice) => this.#note(notice),
    });
    reader.requireEnd();
    this.#add(command.name, true, { form: 'terse', args }, word, end);
    return end;
  }

  #nested(from: number, to: number): Query {
    if (this.#depth + 1 > MAX_BRACKETS) {
      throw new Problem('too_large', `Brackets may be ${MAX_BRACKETS} deep`);
    }
    const query = new QueryParser(this.#text, this.#options, this.#depth + 1).parse(from, to);
    if (query.problem) throw query.problem;
    for (const notice of query.notices) this.#note(notice);
    return query;
  }

  #note(notice: string): void {
    if (!this.#notices.includes(notice)) this.#notices.push(notice);
  }

  #add(
    command: string,
    isNamed: boolean,
    args: Stage['arguments'],
    word: Place,
    end: number,
  ): void {
    const place = { at: word.at, length: end - word.at };
    this.#stages.push({ command, isNamed, arguments: args, word, place });
  }
}
