/** @jsxImportSource @kitajs/html */
export interface QueryProblem {
  readonly before: string;
  readonly wrong: string;
  readonly after: string;
  readonly message: string;
  readonly suggestion: string | null;
  /** The view with the suggestion applied; null where there is none. */
  readonly suggestionHref: string | null;
  readonly allowed: readonly string[];
}

export function EventQueryProblem({ problem }: { problem: QueryProblem }) {
  return (
    <div class="problem" role="alert">
      <pre class="query-problem">
        <span safe>{problem.before}</span>
        <mark safe>{problem.wrong}</mark>
        <span safe>{problem.after}</span>
      </pre>
      <p safe>{problem.message}</p>
      {problem.suggestionHref !== null && problem.suggestion !== null ? (
        <p>
          <a href={problem.suggestionHref} safe>{`Search with “${problem.suggestion}”`}</a>
        </p>
      ) : problem.suggestion === null ? (
        ''
      ) : (
        <p safe>{`Did you mean ${problem.suggestion}?`}</p>
      )}
      {problem.allowed.length > 0 && (
        <p class="fine" safe>{`Possible here: ${problem.allowed.join(', ')}`}</p>
      )}
    </div>
  );
}
