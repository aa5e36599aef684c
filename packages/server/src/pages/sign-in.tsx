import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import type { ServiceContext } from '../context.ts'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { describeBrowser } from '../sessions/describe-browser.ts'
import { keptCookie } from '../sessions/kept-cookie.ts'
import { emailKey } from '../users/parse.ts'
import { WaitingFor } from './parts/asking.tsx'
import { TextField } from './parts/fields.tsx'
import { readForm, readOwnForm } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'

export function addSignIn(app: Hono<AppEnv>): void {
  app.get('/login', async (c) => {
    const returnTo = localPath(c.req.query('return_to'))
    const prompt = readPrompt(c, c.req.query('prompt'))
    const { user } = c.get('page')
    if (user && prompt === null) return c.redirect(returnTo, 302)
    const hint = c.req.query('login_hint')?.slice(0, 254) ?? ''
    const email = prompt === 'login' ? hint || user?.email : prompt === null ? hint : ''
    const problem = c.req.query('unsent') === 'yes' ? UNSENT : undefined
    return signInPage(c, { returnTo, prompt, email: email ?? '', ...(problem ? { problem } : {}) })
  })

  app.post('/login', async (c) => {
    const { service } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const email = form.get('email') ?? ''
    const prompt = readPrompt(c, form.get('prompt'))
    if (keepsNoCookies(c, form)) {
      return signInPage(c, { returnTo, prompt, email, problem: NO_COOKIES, status: 400 })
    }
    const by = { account: emailKey(email), network: c.get('network') }
    const user = await service.limits.tryPassword(
      by,
      () => service.users.findByCredentials(email, form.get('password') ?? ''),
      (found) => (found ? 'right' : 'wrong'),
    )
    service.metrics.countSignIn(user ? 'succeeded' : 'failed')
    if (!user) {
      const problem = 'E-mail or password is wrong.'
      return signInPage(c, { returnTo, prompt, email, problem, status: 401 })
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

/** Why somebody who is signed in is asked to sign in; null for everybody else. */
type Prompt = 'login' | 'select_account' | null

/**
 * `login`: an application wants them to sign in again, the sign-in they have would not do. `select_account`: "Not
 * you?" Nothing has ended yet, because a link on another site may have brought them here.
 */
function readPrompt(c: Context<AppEnv>, text: string | null | undefined): Prompt {
  if (!c.get('page').user) return null
  return text === 'login' || text === 'select_account' ? text : null
}

const UNSENT = 'You were signed out meanwhile, so nothing was done. Sign in, and do it again.'

export const NO_COOKIES =
  'Your browser keeps no cookies of this site, so nobody can be signed in. Allow them, and try again.'

export function keepsNoCookies(c: Context<AppEnv>, form: URLSearchParams): boolean {
  const { service } = c.get('page')
  return keptCookie.isMissing(form, c.req.header('cookie') ?? null, service.url)
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
  readonly email: string
  readonly prompt: Prompt
  readonly problem?: string
  readonly status?: 200 | 400 | 401
}

const HEADINGS = { login: 'Sign in again', select_account: 'Use another account' } as const

async function signInPage(c: Context<AppEnv>, view: SignInView) {
  const { service, user } = c.get('page')
  const { settings } = service.config
  const { prompt } = view
  const insteadOf = prompt === 'select_account' ? user : null
  const formTargets = await redirectTargets(view.returnTo, service)
  c.header('set-cookie', keptCookie.header(service.url), { append: true })
  const waiting = await waitingFor(view.returnTo, service)
  return renderPage(
    c,
    { title: 'Sign in', status: view.status ?? 200, formTargets },
    <section class="card narrow">
      <h1>{prompt === null ? 'Sign in' : HEADINGS[prompt]}</h1>
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
      {prompt === 'login' && (
        <>
          <p>The application you come from asks for your password again, or for another account.</p>
          <p>
            <a href={view.returnTo}>Go back without it</a>
          </p>
        </>
      )}
      {view.problem && (
        <p class="problem boxed" role="alert">
          {view.problem}
        </p>
      )}
      <form method="post" action="/login">
        <input type="hidden" name="return_to" value={view.returnTo} />
        {prompt !== null && <input type="hidden" name="prompt" value={prompt} />}
        <KeptCookieField />
        <EmailField value={view.email} />
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

/** On a page that leaves the cookie. */
export const KeptCookieField: FC = () => (
  <input type="hidden" name={keptCookie.field} value="expected" />
)

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
