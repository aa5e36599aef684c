import type { Context, Hono } from 'hono'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { InvalidAccount } from '../users/parse.ts'
import { readForm } from './forms.ts'
import { renderPage } from './render.tsx'
import { EmailField, redirectTargets, startSession } from './sign-in.tsx'

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
    try {
      await service.limits.countRegistration(c.get('network'))
      const user = await service.users.create(account)
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
  readonly problems?: InvalidAccount['problems']
}

function registerPage(c: Context<AppEnv>, view: RegisterView) {
  const problems = Object.values(view.problems ?? {})
  return renderPage(
    c,
    {
      title: 'Register',
      status: problems.length > 0 ? 422 : 200,
      formTargets: redirectTargets(view.returnTo),
    },
    <section class="card narrow">
      <h1>Register</h1>
      {problems.length > 0 && (
        <ul class="problem" role="alert">
          {problems.map((problem) => (
            <li>{problem}</li>
          ))}
        </ul>
      )}
      <form method="post" action="/register">
        <input type="hidden" name="return_to" value={view.returnTo} />
        <label>
          Name <small>(optional)</small>
          <input name="name" value={view.name ?? ''} autocomplete="name" maxlength={100} />
        </label>
        <EmailField value={view.email ?? ''} />
        <label>
          Password <small>(8 characters or more)</small>
          <input
            type="password"
            name="password"
            autocomplete="new-password"
            minlength={8}
            required
          />
        </label>
        <button class="primary" type="submit">
          Register
        </button>
      </form>
      <p>
        Have an account?{' '}
        <a href={`/login?return_to=${encodeURIComponent(view.returnTo)}`}>Sign in</a>
      </p>
    </section>,
  )
}
