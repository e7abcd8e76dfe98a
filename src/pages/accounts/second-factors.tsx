/** @jsxImportSource @kitajs/html */
/** The part of the profile about second factors. */
import type { FactorsView } from '../../operations/accounts/second-factors.ts';
import type { FrameView } from '../frame.tsx';
import { PostForm } from '../parts/forms.tsx';
import { UtcTime } from '../parts/values.tsx';

/** An app that has to show its first code. */
export interface Enrolment {
  readonly secret: string;
  readonly uri: string;
  /** SVG of the QR code. */
  readonly picture: string;
}

export interface FactorsShown extends FactorsView {
  readonly enrolment: Enrolment | null;
  /** Right after they were made: shown once. */
  readonly recoveryCodes: readonly string[] | null;
  readonly hasPasskeys: boolean;
}

interface Props {
  readonly factors: FactorsShown;
  readonly isReadOnly: boolean;
  readonly frame: FrameView;
}

export function SecondFactors({ factors, isReadOnly, frame }: Props) {
  const { factors: found, required, enrolment, recoveryCodes, recovery_codes_left: left } = factors;
  return (
    <section>
      <h2 id="second-factor">Second factor</h2>
      {required && found.length === 0 ? (
        <p class="notice">
          Your account needs more than a password here. Add an app or a passkey to go on.
        </p>
      ) : (
        <p class="fine">
          {found.length === 0
            ? 'With an app or a passkey, nobody signs in as you with your password alone.'
            : 'Signing in asks for one of these after your password. Programs use API keys.'}
        </p>
      )}
      <div id="new-recovery-codes" class="panel" tabindex="-1" hidden={recoveryCodes === null}>
        <p>
          <strong>Keep these recovery codes.</strong> Each signs you in once when you have lost the
          rest. They are not shown again.
        </p>
        <pre safe>{recoveryCodes?.join('\n') ?? ''}</pre>
        <p>
          <a class="button quiet small" href="/profile">
            I have kept them
          </a>
        </p>
      </div>
      {found.length > 0 && (
        <ul class="factors">
          {found.map(({ id, kind, name, created_at: made, last_used_at: used }) => (
            <li>
              <strong safe>{name}</strong> <span>{kind === 'totp' ? 'app' : 'passkey'}</span>, added{' '}
              <UtcTime at={made} />
              {used === null ? ', not used yet' : ', last used '}
              {used !== null && <UtcTime at={used} />}
              {!isReadOnly && (
                <details>
                  <summary aria-label={`Remove ${name}`}>Remove</summary>
                  <PostForm
                    class="stack narrow"
                    frame={frame}
                    to="/profile"
                    does="remove-factor"
                    fields={[['id', id]]}
                  >
                    <PasswordBox frame={frame} />
                    <button class="danger" type="submit">
                      Remove it
                    </button>
                  </PostForm>
                </details>
              )}
            </li>
          ))}
        </ul>
      )}
      {enrolment !== null && <Enrol enrolment={enrolment} frame={frame} />}
      {!isReadOnly && enrolment === null && <Add factors={factors} frame={frame} />}
      {!isReadOnly && found.length > 0 && (
        <details>
          <summary safe>{`Recovery codes: ${left} left`}</summary>
          <PostForm class="stack narrow" frame={frame} to="/profile" does="new-recovery-codes">
            <PasswordBox frame={frame} />
            <button type="submit">Make new ones</button>
          </PostForm>
        </details>
      )}
    </section>
  );
}

function Add({ factors, frame }: Pick<Props, 'factors' | 'frame'>) {
  return (
    <details open={factors.required && factors.factors.length === 0}>
      <summary>Add one</summary>
      <PostForm class="stack narrow" frame={frame} to="/profile" does="begin-app">
        <label>
          Name
          <input name="name" maxlength="100" autocomplete="off" placeholder="My phone" />
        </label>
        <PasswordBox frame={frame} />
        <button type="submit">Add an authenticator app</button>
        {factors.hasPasskeys ? (
          <>
            <button
              type="button"
              class="quiet"
              hidden
              data-passkey="/auth/factors/passkey"
              data-kind="create"
              data-next="/profile?done=passkey"
            >
              Add a passkey
            </button>
            <p class="problem" role="alert" hidden></p>
          </>
        ) : (
          <p class="fine">Passkeys belong to a host name: open this site by its name to add one.</p>
        )}
      </PostForm>
    </details>
  );
}

function PasswordBox({ frame }: Pick<Props, 'frame'>) {
  return (
    <>
      {/* Tells a password manager whose password it is. */}
      <input hidden name="username" autocomplete="username" value={frame.username ?? ''} readonly />
      <label>
        Your password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
    </>
  );
}

function Enrol({ enrolment, frame }: { enrolment: Enrolment; frame: FrameView }) {
  return (
    <div class="panel">
      <p>Scan this with the app, or type the key into it. Then enter the six digits it shows.</p>
      <div class="qr" role="img" aria-label="QR code of the key">
        {enrolment.picture as 'safe'}
      </div>
      <p>
        <code safe>{enrolment.secret.replace(/.{4}(?=.)/g, '$& ')}</code>
      </p>
      <PostForm class="stack narrow" frame={frame} to="/profile" does="confirm-app">
        <label>
          Code
          <input
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            pattern="[0-9 ]{6,7}"
            autofocus
            required
          />
        </label>
        <button type="submit">Add it</button>
      </PostForm>
    </div>
  );
}
