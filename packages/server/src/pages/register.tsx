import type { Context, Hono } from 'hono'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { keptCookie } from '../sessions/kept-cookie.ts'
import { emailKey, InvalidAccount, parseAccount } from '../users/parse.ts'
import { WaitingFor } from './parts/asking.tsx'
import { TextField } from './parts/fields.tsx'
import { readForm } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'
import {
  EmailField,
  KeptCookieField,
  keepsNoCookies,
  NO_COOKIES,
  redirectTargets,
  startSession,
  waitingFor,
} from './sign-in.tsx'

/** Only where registration is on: elsewhere the address does not exist. */
export function addRegister(app: Hono<AppEnv>): void {
  app.get('/register', (c) => registerPage(c, { returnTo: localPath(c.req.query('return_to')) }))

  app.post('/register', async (c) => {
    const { service } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const account = {
      email: form.get('email') ?? '',
      name: form.get('name'),
      password: form.get('password') ?? '',
    }
    if (keepsNoCookies(c, form)) {
      return registerPage(c, { returnTo, ...account, problem: NO_COOKIES })
    }
    try {
      // What cannot be an account is told at once and takes nobody's place.
      parseAccount(account)
      const user = await service.limits.register(c.get('network'), () =>
        service.users.create(account),
      )
      await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
      await startSession(c, user.id)
      return c.redirect(returnTo, 303)
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return registerPage(c, { returnTo, ...account, problems: error.problems })
    }
  })
}

interface RegisterView {
  readonly returnTo: string
  readonly email?: string
  readonly name?: string | null
  /** Of the whole form. */
  readonly problem?: string
  /** Of its fields. */
  readonly problems?: InvalidAccount['problems']
}

async function registerPage(c: Context<AppEnv>, view: RegisterView) {
  const problems = view.problems ?? {}
  const { service, user } = c.get('page')
  const waiting = await waitingFor(view.returnTo, service)
  const isWrong = Object.keys(problems).length > 0
  const problem =
    view.problem ?? (isWrong ? 'The account was not made. See what is wrong below.' : null)
  const signIn = new URLSearchParams({
    return_to: view.returnTo,
    ...(user && { prompt: 'select_account' }),
  })
  c.header('set-cookie', keptCookie.header(service.url), { append: true })
  return renderPage(
    c,
    {
      title: 'Register',
      status: isWrong ? 422 : problem === null ? 200 : 400,
      formTargets: await redirectTargets(view.returnTo, service),
    },
    <section class="card narrow">
      <h1>Register</h1>
      <WaitingFor {...waiting} />
      {user && (
        <p>
          You are signed in as <strong>{user.email}</strong>, until you have registered another
          account.
        </p>
      )}
      {problem !== null && (
        <p class="problem boxed" role="alert">
          {problem}
        </p>
      )}
      <form method="post" action="/register">
        <input type="hidden" name="return_to" value={view.returnTo} />
        <KeptCookieField />
        <TextField
          id="name"
          label="Name (optional)"
          problem={problems.name}
          input={{ name: 'name', value: view.name ?? '', autocomplete: 'name', maxlength: 100 }}
        />
        <EmailField value={view.email ?? ''} problem={problems.email} />
        <TextField
          id="password"
          label="Password"
          hint="8 characters or more"
          problem={problems.password}
          input={{
            type: 'password',
            name: 'password',
            autocomplete: 'new-password',
            minlength: 8,
            required: true,
          }}
        />
        <button class="primary wide" type="submit">
          Register
        </button>
      </form>
      <p class="aside">
        Have an account? <a href={`/login?${signIn}`}>Sign in</a>
      </p>
    </section>,
  )
}
