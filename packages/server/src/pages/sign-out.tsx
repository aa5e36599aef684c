import type { SignOutView } from '@tollgate/oauth'
import type { FC } from 'hono/jsx'
import type { User } from '../users/user.ts'

/** Asks whether to sign out: a client, or somebody else's page, has sent the person here. */
export const SignOut: FC<{ view: SignOutView; user: User | null }> = ({ view, user }) => (
  <section class="card narrow">
    <h1>Sign out?</h1>
    {user && (
      <p class="quiet-text">
        You are signed in as <strong>{user.email}</strong>.
      </p>
    )}
    <p>
      {view.client && (
        <>
          <bdi>{view.client.name}</bdi> asks to sign you out.{' '}
        </>
      )}
      You will be signed out here and at the applications where you signed in with this account.
    </p>
    {view.destination !== null && (
      <p class="notice">
        Afterwards you will be sent to <strong>{view.destination}</strong>.
      </p>
    )}
    {view.problem !== null && <p class="notice">{view.problem} You will stay here.</p>}
    <form method="post" action={view.action}>
      {Object.entries(view.fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <div class="buttons wide">
        <button name="decision" value="stay" type="submit">
          Stay signed in
        </button>
        <button class="primary" name="decision" value="sign_out" type="submit">
          Sign out
        </button>
      </div>
    </form>
  </section>
)

export const SignedOut: FC<{ stillSignedIn: boolean }> = ({ stillSignedIn }) => (
  <section class="card narrow">
    <h1>{stillSignedIn ? 'You are still signed in' : 'You are signed out'}</h1>
    <p>
      {stillSignedIn
        ? 'Nothing has changed.'
        : 'Applications where you signed in with this account are being told.'}
    </p>
    <p>{stillSignedIn ? <a href="/">Go to the first page</a> : <a href="/login">Sign in</a>}</p>
  </section>
)
