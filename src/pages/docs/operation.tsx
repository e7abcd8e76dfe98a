/** @jsxImportSource @kitajs/html */
/** Parameters and responses, a form that tries it with the page's session, and the call as curl, which needs no script. */
import type {
  ApiOperation,
  OperationAnswer,
  OperationBody,
  OperationField,
} from '../../api/openapi/api-operation.ts';
import type { OperationName } from '../../api/openapi/api-pages.ts';
import type { SchemaLine } from '../../api/openapi/schema-text.ts';
import type { FrameView, Page } from '../frame.tsx';

interface OperationView extends ApiOperation {
  /** Scheme and host as the caller sees them. */
  readonly origin: string;
}

export function operationAddress({ method, path }: OperationName): string {
  return `/docs?${new URLSearchParams({ method: method.toLowerCase(), path })}`;
}

export const operationPage: Page<OperationView> = {
  name: 'operation',
  title: ({ summary }) => summary,
  layout: 'wide',
  styles: ['docs.css'],
  scripts: ['operation.js'],
  trail: () => [{ label: 'API', href: '/docs' }],
  content: (view, frame) => (
    <div class="api operation">
      <p class="address">
        <span class={`method ${view.method.toLowerCase()}`} safe>
          {view.method}
        </span>
        <code safe>{view.path}</code>
      </p>
      <div class="columns">
        <div>
          <Try view={view} frame={frame} />
        </div>
        <div>
          <Answers answers={view.answers} />
          <Members bodies={view.bodies} />
        </div>
      </div>
    </div>
  ),
};

function Try({ view, frame }: { view: OperationView; frame: FrameView }) {
  const { method, path, fields, bodies, origin } = view;
  const accept = view.answers.find(({ status }) => status.startsWith('2'))?.mediaTypes[0];
  return (
    <section aria-labelledby="try">
      <h2 id="try">Try it out</h2>
      <form
        class="stack"
        id="request"
        data-method={method}
        data-path={path}
        data-accept={accept ?? '*/*'}
        data-keys="Ctrl+Enter Send the request"
      >
        {fields
          .filter(({ place }) => place !== 'header')
          .map((field) => (
            <Field field={field} />
          ))}
        <Headers fields={fields.filter(({ place }) => place === 'header')} />
        <Body bodies={bodies} />
        <p class="actions" id="send" hidden>
          {/* Enabled by the script; without script the form cannot be sent. */}
          <button type="submit" class={method === 'DELETE' ? 'danger' : undefined} disabled safe>
            {`Send ${method}`}
          </button>
          <button type="button" class="quiet" hidden>
            Stop
          </button>
          <span class="fine">{consequence(method, frame)}</span>
        </p>
      </form>
      <noscript>
        <p class="fine">
          Trying it on this page needs JavaScript; the command below does the same.
        </p>
      </noscript>
      <section id="answer" aria-label="Answer" hidden>
        <p role="status"></p>
        <details hidden>
          <summary>Headers</summary>
          <pre class="code"></pre>
        </details>
        <pre class="code body" tabindex="0" hidden></pre>
      </section>
      <h3>For a terminal</h3>
      <pre class="code" id="curl" tabindex="0" data-origin={origin} safe>
        {curlOf(view)}
      </pre>
      <button type="button" class="quiet small" data-copy="before">
        Copy as curl
      </button>
    </section>
  );
}

function consequence(method: string, { username }: FrameView): JSX.Element {
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method);
  if (username === null) return <span>It is made without an account.</span>;
  return (
    <span>
      {isRead ? 'It is made as ' : 'It really changes what is there, as '}
      <strong safe>{username}</strong>.
    </span>
  );
}

function Headers({ fields }: { fields: readonly OperationField[] }) {
  if (fields.length === 0) return '';
  return (
    <details>
      <summary>Headers</summary>
      <div class="stack">
        {fields.map((field) => (
          <Field field={field} />
        ))}
      </div>
    </details>
  );
}

function Field({ field }: { field: OperationField }) {
  const { name, place, description, type, isRequired, choices, preset } = field;
  const attributes = { 'data-place': place, name, required: isRequired };
  return (
    <label>
      <span class="field">
        <code safe>{name}</code>
        <span class="fine" safe>
          {[type, place === 'query' ? '' : place, isRequired ? 'required' : '']
            .filter(Boolean)
            .join(', ')}
        </span>
      </span>
      {choices === null ? (
        <input {...attributes} placeholder={preset} autocomplete="off" spellcheck="false" />
      ) : (
        <select {...attributes}>
          <option value="" safe>
            {preset === '' ? 'not set' : `not set (${preset})`}
          </option>
          {choices.map((value) => (
            <option {...{ value }} safe>
              {value}
            </option>
          ))}
        </select>
      )}
      <Description text={description} />
    </label>
  );
}

function Body({ bodies: [body, ...others] }: { bodies: readonly OperationBody[] }) {
  if (body === undefined) return '';
  const types = [body, ...others.filter(({ entry }) => entry === 'text' && body.entry === 'text')];
  return (
    <fieldset data-entry={body.entry}>
      <legend>Body</legend>
      {types.length > 1 ? (
        <label>
          Sent as
          <select name="Content-Type">
            {types.map(({ mediaType }) => (
              <option value={mediaType} safe>
                {mediaType}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <p class="fine">
          Sent as <code safe>{body.mediaType}</code>
          <input type="hidden" name="Content-Type" value={body.mediaType} />
        </p>
      )}
      <Entry body={body} />
    </fieldset>
  );
}

function Entry({ body }: { body: OperationBody }) {
  if (body.entry === 'text') {
    const rows = String(Math.min(16, Math.max(4, body.example.split('\n').length)));
    return (
      <label>
        <span class="visually-hidden">Body</span>
        <textarea name="body" rows={rows} spellcheck="false" safe>
          {body.example}
        </textarea>
      </label>
    );
  }
  if (body.entry === 'file') return <Chosen name="body" label="File" />;
  return (
    <>
      {body.fields.map((name) => (
        <label>
          <code safe>{name}</code>
          <input data-place="form" {...{ name }} autocomplete="off" spellcheck="false" />
        </label>
      ))}
      {body.files.map((name) => (
        <Chosen {...{ name }} label={name} />
      ))}
    </>
  );
}

function Chosen({ name, label }: { name: string; label: string }) {
  return (
    <label>
      <code safe>{label}</code>
      <input type="file" data-place="form" {...{ name }} />
    </label>
  );
}

function Answers({ answers }: { answers: readonly OperationAnswer[] }) {
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">Answers</h2>
      <dl class="answers">
        {answers.map((answer) => (
          <div>
            <dt safe>{answer.status}</dt>
            <dd>
              <span safe>{answer.description}</span>
              {!/^[45]/.test(answer.status) && <Content answer={answer} />}
            </dd>
          </div>
        ))}
      </dl>
      <p class="fine">
        Errors are JSON, whose member <code>detail</code> says what is wrong.
      </p>
    </section>
  );
}

function Content({ answer: { mediaTypes, lines } }: { answer: OperationAnswer }) {
  const named = mediaTypes.filter((type) => type !== '*/*');
  return (
    <>
      {named.length > 0 && <small safe>{named.join(', ')}</small>}
      {lines.length > 0 && <Folded lines={lines} />}
    </>
  );
}

function Folded({ lines }: { lines: readonly SchemaLine[] }) {
  return (
    <details>
      <summary>{lines.length === 1 ? '1 member' : `${lines.length} members`}</summary>
      <Lines lines={lines} />
    </details>
  );
}

function Members({ bodies }: { bodies: readonly OperationBody[] }) {
  const described = bodies.filter(({ lines }) => lines.length > 0);
  return (
    <>
      {described.map(({ mediaType, lines }) => (
        <section>
          <h2>What the body holds</h2>
          {described.length > 1 && (
            <p class="fine" safe>
              {mediaType}
            </p>
          )}
          <Lines lines={lines} />
        </section>
      ))}
    </>
  );
}

function Lines({ lines }: { lines: readonly SchemaLine[] }) {
  return (
    <ul class="members">
      {lines.map(({ name, depth, type, isRequired, description }) => (
        <li class={`depth-${Math.min(depth, 4)}`}>
          <code safe>{name}</code>{' '}
          <span class="fine" safe>
            {isRequired ? `${type}, required` : type}
          </span>
          <Description text={description} />
        </li>
      ))}
    </ul>
  );
}

/** Text between backquotes becomes code. */
function Description({ text }: { text: string }) {
  if (text === '') return '';
  return (
    <small>
      {text
        .split('`')
        .map((part, index) =>
          index % 2 === 1 ? <code safe>{part}</code> : <span safe>{part}</span>,
        )}
    </small>
  );
}

/** The script keeps it up to date. */
function curlOf({ method, path, bodies, origin }: OperationView): string {
  const [body] = bodies;
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(origin + path)}`,
    '-H "X-API-Key: $SVC_API_KEY"',
    ...(body === undefined || body.entry === 'form'
      ? []
      : [`-H ${quoted(`Content-Type: ${body.mediaType}`)}`]),
    ...(body?.entry === 'text' ? [`-d ${quoted(body.example)}`] : []),
    ...(body?.entry === 'file' ? ['--data-binary @FILE'] : []),
  ];
  return parts.join(' \\\n  ');
}
