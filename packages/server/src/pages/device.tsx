import type { DeviceAnswered, DeviceQuestion, DeviceView, UserCodeForm } from '@tollgate/oauth'
import type { FC } from 'hono/jsx'
import { type Asked, Asker, Background, Decision } from './parts/asking.tsx'
import { TextField } from './parts/fields.tsx'

export function titleOfDevicePage(view: DeviceView): string {
  const titles = { enter: 'Connect a device', confirm: 'Approve a device', done: 'Device answered' }
  return titles[view.step]
}

/** `/oauth/device`: type the code of a device, approve or deny it, done. */
export const DevicePage: FC<{ view: DeviceView; asked: Asked | null }> = ({ view, asked }) => {
  switch (view.step) {
    case 'enter':
      return <EnterCode view={view} />
    case 'confirm':
      return asked && <Confirm view={view} asked={asked} />
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

const Confirm: FC<{ view: DeviceQuestion; asked: Asked }> = ({ view, asked }) => (
  <section class="card narrow consent">
    <Asker view={view} asked={asked} rest="on a device asks for access to your account" />
    <p>Compare the code. Your device shows:</p>
    <p class="user-code">{view.userCode}</p>
    <p class="notice">
      <strong>Approve only if you have started this yourself</strong>, on a device that is yours. If
      somebody sent you this code or a link to this page, deny it: they would get into your account.
    </p>
    <Background view={view} asked={asked} />
    <Decision view={view} who="the device" />
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
