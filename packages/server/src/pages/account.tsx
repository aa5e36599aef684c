import type { Context, Hono } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import { endSignIns } from '../users/end-account.ts'
import { emailKey, InvalidAccount } from '../users/parse.ts'
import { TextField } from './parts/fields.tsx'
import { readOwnForm } from './parts/forms.ts'
import { CsrfField } from './parts/layout.tsx'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { startSession } from './sign-in.tsx'

export function addAccount(app: Hono<AppEnv>): void {
  app.get('/account', requireUser(), (c) =>
    accountPage(c, { changed: c.req.query('changed') !== undefined }),
  )

  app.post('/account/password', requireUser(), async (c) => {
    const { service } = c.get('page')
    const form = await readOwnForm(c)
    const user = userOf(c)
    const session = await service.sessions.find(c.req.header('cookie') ?? null)
    if (!session) return c.redirect('/login', 303)
    const known = await service.limits.tryPassword(
      { sessionId: session.sessionId, network: c.get('network') },
      () => service.users.findByCredentials(user.email, form.get('current') ?? ''),
      (found) => (found?.id === user.id ? 'right' : 'wrong'),
    )
    if (known?.id !== user.id) {
      return accountPage(c, { problems: { current: 'This is not your password.' } })
    }
    await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
    try {
      await service.users.changePassword(user.id, form.get('password') ?? '')
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return accountPage(c, { problems: { password: error.problems.password } })
    }
    await endSignIns(service, user.id)
    await startSession(c, user.id)
    return c.redirect('/account?changed', 303)
  })
}

interface AccountView {
  readonly changed?: boolean
  readonly problems?: Readonly<Partial<Record<'current' | 'password', string | undefined>>>
}

function accountPage(c: Context<AppEnv>, { changed, problems }: AccountView) {
  const page = c.get('page')
  const password = { type: 'password', required: true }
  return renderPage(
    c,
    { title: 'Account', status: problems ? 422 : 200 },
    <section class="card narrow">
      <h1>Account</h1>
      <p>
        <bdi>{userOf(c).email}</bdi>
      </p>
      {changed && (
        <p class="notice" role="status">
          Your password was changed.
        </p>
      )}
      <form method="post" action="/account/password">
        <CsrfField page={page} />
        {/* Password managers keep a password under a name; without a name of its own it is not sent. */}
        <input type="text" autocomplete="username" value={userOf(c).email} hidden readonly />
        <TextField
          id="current"
          label="Your password"
          problem={problems?.current}
          input={{ ...password, name: 'current', autocomplete: 'current-password' }}
        />
        <TextField
          id="password"
          label="New password"
          hint="At least 8 characters. You are signed out everywhere else, and all tokens end."
          problem={problems?.password}
          input={{ ...password, name: 'password', autocomplete: 'new-password', minlength: 8 }}
        />
        <button class="primary wide" type="submit">
          Change password
        </button>
      </form>
      <p class="aside">
        <a href="/account/sessions">Where you are signed in</a>
      </p>
    </section>,
  )
}
