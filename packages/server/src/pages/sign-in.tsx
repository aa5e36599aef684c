import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import type { ServiceContext } from '../context.ts'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { describeBrowser } from '../sessions/describe-browser.ts'
import { emailKey } from '../users/parse.ts'
import type { User } from '../users/user.ts'
import { WaitingFor } from './parts/asking.tsx'
import { TextField } from './parts/fields.tsx'
import { readForm, readOwnForm } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'

export function addSignIn(app: Hono<AppEnv>): void {
  app.get('/login', async (c) => {
    const returnTo = localPath(c.req.query('return_to'))
    const { user } = c.get('page')
    const email = c.req.query('login_hint')?.slice(0, 254) ?? ''
    if (!user) return signInPage(c, { returnTo, email })
    switch (c.req.query('prompt')) {
      // An application wants them to sign in again: the sign-in they have would not do.
      case 'login':
        return signInPage(c, { returnTo, email: email || user.email, again: true })
      // "Not you?" Nothing has ended yet: a link on another site may have brought them here.
      case 'select_account':
        return signInPage(c, { returnTo, insteadOf: user })
      default:
        return c.redirect(returnTo, 302)
    }
  })

  app.post('/login', async (c) => {
    const { service } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const email = form.get('email') ?? ''
    const by = { account: emailKey(email), network: c.get('network') }
    const user = await service.limits.tryPassword(
      by,
      () => service.users.findByCredentials(email, form.get('password') ?? ''),
      (found) => (found ? 'right' : 'wrong'),
    )
    service.metrics.countSignIn(user ? 'succeeded' : 'failed')
    if (!user) {
      const problem = 'E-mail or password is wrong.'
      return signInPage(c, { returnTo, email, problem, status: 401 })
    }
    await startSession(c, user.id)
    return c.redirect(returnTo, 303)
  })

  app.post('/logout', async (c) => {
    const { service, user } = c.get('page')
    if (!user) return c.redirect('/login', 303)
    await readOwnForm(c)
    const cookies = c.req.header('cookie') ?? null
    const session = await service.sessions.find(cookies)
    // Its cookie mode ends on every process, and applications are told. Should it fail, the person can try again.
    if (session) await service.oauth.endSession(session.sessionId)
    const { cookie } = await service.sessions.end(cookies)
    c.header('set-cookie', cookie, { append: true })
    return c.redirect('/login', 303)
  })
}

/**
 * A new session under a new id; the one before, and its cookie mode, end (threat G8). That one goes last: while it is
 * there, what could not be done is done at the next try.
 */
export async function startSession(c: Context<AppEnv>, userId: string): Promise<void> {
  const { service } = c.get('page')
  const cookies = c.req.header('cookie') ?? null
  const before = await service.sessions.find(cookies)
  const { sessionId, cookie } = await service.sessions.start(userId, {
    address: c.get('address'),
    browser: describeBrowser(c.req.header('user-agent')),
  })
  if (before) {
    // Whoever signs in again stays signed in at the applications.
    if (before.userId === userId) await service.oauth.sessions.move(before.sessionId, sessionId)
    await service.oauth.endSession(before.sessionId)
  }
  await service.sessions.end(cookies)
  c.header('set-cookie', cookie, { append: true })
}

interface SignInView {
  readonly returnTo: string
  readonly email?: string
  readonly problem?: string
  /** Of somebody who is signed in. */
  readonly again?: boolean
  /** Whose session ends when somebody else signs in. */
  readonly insteadOf?: User
  readonly status?: 200 | 401
}

async function signInPage(c: Context<AppEnv>, view: SignInView) {
  const { service } = c.get('page')
  const { settings } = service.config
  const { insteadOf } = view
  const formTargets = await redirectTargets(view.returnTo, service)
  const waiting = await waitingFor(view.returnTo, service)
  return renderPage(
    c,
    { title: 'Sign in', status: view.status ?? 200, formTargets },
    <section class="card narrow">
      <h1>{insteadOf ? 'Use another account' : view.again ? 'Sign in again' : 'Sign in'}</h1>
      <WaitingFor {...waiting} />
      {insteadOf && (
        <>
          <p>
            You are signed in as <strong>{insteadOf.email}</strong>, until you sign in with another
            account.
          </p>
          <p>
            <a href={view.returnTo}>Stay signed in</a>
          </p>
        </>
      )}
      {view.again && (
        <p>The application you come from asks for your password again, or for another account.</p>
      )}
      {view.problem && (
        <p class="problem boxed" role="alert">
          {view.problem}
        </p>
      )}
      <form method="post" action="/login">
        <input type="hidden" name="return_to" value={view.returnTo} />
        <EmailField value={view.email ?? ''} />
        <TextField
          id="password"
          label="Password"
          input={{
            type: 'password',
            name: 'password',
            autocomplete: 'current-password',
            required: true,
          }}
        />
        <button class="primary wide" type="submit">
          Sign in
        </button>
      </form>
      <ForgottenPassword settings={settings} />
      {settings.registration && (
        <p class="aside">
          No account yet?{' '}
          <a href={`/register?return_to=${encodeURIComponent(view.returnTo)}`}>Register</a>
        </p>
      )}
    </section>,
  )
}

/** For whom one signs in. Nothing of it is taken from the address but the client's id. */
export async function waitingFor(returnTo: string, { oauth }: ServiceContext) {
  const device = /^\/oauth\/device(\?|$)/.test(returnTo)
  return { device, asking: await oauth.findAsking(returnTo) }
}

/** Nobody can be told from here whether there is such an account, so a person has to be asked. */
const ForgottenPassword: FC<{ settings: Pick<Settings, 'name' | 'support'> }> = ({ settings }) => {
  const { name, support } = settings
  if (support === null) {
    return (
      <p class="aside">
        Forgot your password? Ask the people who run <bdi>{name}</bdi>: they can give you a new one.
      </p>
    )
  }
  const href = support.includes('://') ? support : `mailto:${support}`
  return (
    <p class="aside">
      Forgot your password? Ask <a href={href}>{support}</a> for a new one.
    </p>
  )
}

export const EmailField: FC<{ value: string; problem?: string | undefined }> = (props) => (
  <TextField
    id="email"
    label="E-mail"
    problem={props.problem}
    input={{
      type: 'email',
      name: 'email',
      value: props.value,
      autocomplete: 'username',
      required: true,
    }}
  />
)

/**
 * Whoever has approved an application before goes straight on to it after signing in, and browsers
 * hold the form to its policy over all redirects: the application's origin is named. A request that does
 * not say its address, as one that was pushed, may lead to any of the client's.
 */
export async function redirectTargets(
  returnTo: string,
  { oauth }: ServiceContext,
): Promise<string[]> {
  if (!returnTo.startsWith('/oauth/authorize?')) return []
  const query = new URL(returnTo, 'http://localhost').searchParams
  const named = query.get('redirect_uri')
  const targets = named === null ? await allRedirects(oauth, query.get('client_id')) : [named]
  return [...new Set(targets.filter((target) => URL.canParse(target)).map(sourceOf))].filter(
    (source) => /^[a-z][\w+.:/[\]-]*$/i.test(source),
  )
}

/** As a policy names it. */
function sourceOf(address: string): string {
  const { protocol, origin } = new URL(address)
  return protocol === 'http:' || protocol === 'https:' ? origin : protocol
}

async function allRedirects(
  oauth: ServiceContext['oauth'],
  clientId: string | null,
): Promise<readonly string[]> {
  const client = clientId ? await oauth.clients.find(clientId) : null
  return client?.redirectUris ?? []
}
