import type { DeviceAnswered, DeviceQuestion, DeviceView, UserCodeForm } from '@tollgate/oauth'
import type { FC } from 'hono/jsx'
import type { User } from '../users/user.ts'
import { TextField } from './parts/fields.tsx'

export function titleOfDevicePage(view: DeviceView): string {
  const titles = { enter: 'Connect a device', confirm: 'Approve a device', done: 'Device answered' }
  return titles[view.step]
}

/** `/oauth/device`: type the code of a device, approve or deny it, done. */
export const DevicePage: FC<{ view: DeviceView; user: User | null }> = ({ view, user }) => {
  switch (view.step) {
    case 'enter':
      return <EnterCode view={view} />
    case 'confirm':
      return <Confirm view={view} user={user} />
    case 'done':
      return <Done view={view} />
  }
}

const EnterCode: FC<{ view: UserCodeForm }> = ({ view }) => (
  <section class="card narrow">
    <h1>Connect a device</h1>
    <p>Your television, terminal or other device shows a code. Type it here to go on.</p>
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      <TextField
        id="user_code"
        label="Code"
        hint="Eight letters. Capitals and the dash do not matter."
        problem={view.problem ?? undefined}
        input={{
          name: 'user_code',
          class: 'user-code',
          value: view.userCode,
          autocomplete: 'off',
          autocapitalize: 'characters',
          spellcheck: 'false',
          maxlength: 20,
          required: true,
        }}
      />
      <button class="primary wide" type="submit">
        Continue
      </button>
    </form>
  </section>
)

const Confirm: FC<{ view: DeviceQuestion; user: User | null }> = ({ view, user }) => (
  <section class="card narrow consent">
    <h1>
      <bdi>{view.client.name}</bdi> on a device asks for access to your account
    </h1>
    {user && (
      <p class="quiet-text">
        You are signed in as <strong>{user.email}</strong>.
      </p>
    )}
    <p>Compare the code. Your device shows:</p>
    <p class="user-code">{view.userCode}</p>
    {view.scopes.length > 0 ? (
      <>
        <p>If you approve, the device will be able to:</p>
        <ul class="scopes">
          {view.scopes.map((scope) => (
            <li>{scope.description}</li>
          ))}
        </ul>
      </>
    ) : (
      <p>If you approve, the device will see who you are. It asks for nothing else.</p>
    )}
    <p class="notice">
      <strong>Approve only if you have started this yourself</strong>, on a device that is yours. If
      somebody sent you this code or a link to this page, deny it: they would get into your account.
    </p>
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      <div class="buttons wide">
        <button name="decision" value="deny" type="submit">
          Deny
        </button>
        <button class="primary" name="decision" value="approve" type="submit">
          Approve
        </button>
      </div>
    </form>
  </section>
)

const Done: FC<{ view: DeviceAnswered }> = ({ view }) => (
  <section class="card narrow">
    <h1>
      {view.approved ? 'You have approved ' : 'You have denied '}
      <bdi>{view.client.name}</bdi>
    </h1>
    {view.approved ? (
      <p>
        Go back to your device: it goes on by itself. You can take the access away at any time under{' '}
        <a href="/applications">Applications</a>.
      </p>
    ) : (
      <p>The device gets no access. You can close this page.</p>
    )}
  </section>
)
