import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import type { ServiceContext } from '../context.ts'
import { chooseRequiredSignInStep, type RequiredSignInStep } from '../factors/policy.ts'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { RECOVERY_PATHS } from '../recovery/recovery.ts'
import { testCookie } from '../sessions/cookie.ts'
import { MFA_ACR } from '../sessions/methods.ts'
import { addSecondFactor, finishFirstFactor } from '../sign-in/finish.ts'
import { emailKey } from '../users/parse.ts'
import { SignInPurpose } from './parts/approval.tsx'
import { toContactUrl } from './parts/brand.ts'
import { Refusal, Submit, TestCookieField, TextField } from './parts/fields.tsx'
import { readCsrfForm, readForm } from './parts/forms.ts'
import { usePage } from './parts/layout.tsx'
import { PasskeyForm } from './parts/passkey-form.tsx'
import { ProviderButtons } from './parts/provider-buttons.tsx'
import { listRedirectTargets } from './parts/redirect-targets.ts'
import { renderPage } from './parts/render.tsx'
import { proveOrDescribe } from './second-factors/set-up.tsx'

export function addSignInPage(app: Hono<AppEnv>): void {
  app.get('/login', async (c) => {
    const returnTo = localPath(c.req.query('return_to'))
    const prompt = readPrompt(c, c.req.query('prompt'))
    const { user } = c.get('page')
    const part = await findRequiredSignInStep(c, returnTo)
    if (part === 'second-factor') return addSecondFactor(c, returnTo)
    if (part === 'enrolment') {
      const query = new URLSearchParams({ return_to: returnTo, wanted: MFA_ACR })
      return c.redirect(`/account/security?${query}`, 302)
    }
    if (user && prompt === null) return c.redirect(returnTo, 302)
    const hint = c.req.query('login_hint')?.slice(0, 254) ?? ''
    const email = prompt === 'login' ? hint || user?.email : prompt === null ? hint : ''
    const problem = c.req.query('unsent') === 'yes' ? c.get('page').t('signIn.unsent') : undefined
    return signInPage(c, { returnTo, prompt, email: email ?? '', ...(problem ? { problem } : {}) })
  })

  app.post('/login', async (c) => {
    const { service, t } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const email = form.get('email') ?? ''
    const prompt = readPrompt(c, form.get('prompt'))
    if (blocksCookies(c, form)) {
      return signInPage(c, { returnTo, prompt, email, problem: t('signIn.noCookies'), status: 400 })
    }
    const by = { account: emailKey(email), network: c.get('network') }
    const proved = await service.limits.tryPassword(
      by,
      () => service.users.proveCredentials(email, form.get('password') ?? ''),
      (found) => (found ? 'right' : 'wrong'),
    )
    service.metrics.countSignIn(proved ? 'succeeded' : 'failed')
    if (!proved) {
      const problem = t('signIn.wrong')
      return signInPage(c, { returnTo, prompt, email, problem, status: 401 })
    }
    const { user, stillHolds } = proved
    return finishFirstFactor(c, user, { methods: ['pwd'], returnTo, stillHolds })
  })

  app.post('/login/passkey', async (c) => {
    const { service, t } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const prompt = readPrompt(c, form.get('prompt'))
    const undoCount = await service.limits.countPasskey(c.get('network'))
    const proved = usesPasskeys(service)
      ? await proveOrDescribe(c, () =>
          service.factors.passkeys.verify(null, '', form.get('passkey') ?? ''),
        )
      : t('passkey.refused')
    const user = typeof proved === 'string' ? null : await service.users.findById(proved.userId)
    service.metrics.countSignIn(user ? 'succeeded' : 'failed')
    if (typeof proved === 'string' || !user) {
      const problem = typeof proved === 'string' ? proved : t('passkey.refused')
      return signInPage(c, { returnTo, prompt, email: '', problem, status: 401 })
    }
    await undoCount()
    await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
    // The authenticator has verified the person, so the passkey counts as two factors.
    const { stillHolds } = proved
    return finishFirstFactor(c, user, { methods: ['pop', 'user', 'mfa'], returnTo, stillHolds })
  })

  app.post('/logout', async (c) => {
    const { service, user } = c.get('page')
    if (!user) return c.redirect('/login', 303)
    await readCsrfForm(c)
    const cookies = c.req.header('cookie') ?? null
    const session = await service.sessions.find(cookies)
    // Ends cookie mode on every process and notifies applications. First, so that the person can
    // try again if it fails.
    if (session) await service.oauth.endSession(session.sessionId)
    const { cookie } = await service.sessions.end(cookies)
    c.header('set-cookie', cookie, { append: true })
    return c.redirect('/login', 303)
  })
}

/** Whether people can sign in with a passkey only. */
function usesPasskeys({ config, factors }: ServiceContext): boolean {
  return config.settings.secondFactor !== 'off' && factors.passkeys.isPossible
}

/** Decides which part of the sign-in a signed-in person has to repeat for this request. */
async function findRequiredSignInStep(
  c: Context<AppEnv>,
  returnTo: string,
): Promise<RequiredSignInStep> {
  const { service, user, session } = c.get('page')
  const wantsMfa = (c.req.query('acr_values') ?? '').split(' ').includes(MFA_ACR)
  if (!user || !session || !wantsMfa) return 'complete'
  return chooseRequiredSignInStep({
    policy: service.config.settings.secondFactor,
    wantsMfa,
    wantsFresh: demandsFreshSignIn(returnTo, service),
    hasFactor: await service.factors.has(user.id),
    methods: session.methods,
  })
}

/**
 * The parameter with which the authorization endpoint marks that a request demands a fresh sign-in.
 * It is only a hint here: the endpoint checks the time of the sign-in.
 */
const SIGN_IN_MARKER_PARAM = 'sign_in_asked'

/** Whether the page to return to is an authorization request that demands a fresh sign-in. */
export const demandsFreshSignIn = (returnTo: string, { url }: Pick<ServiceContext, 'url'>) =>
  new URL(returnTo, url).searchParams.has(SIGN_IN_MARKER_PARAM)

/** Why a signed-in person sees the sign-in page. `null` if signed out, or without a reason. */
type Prompt = 'login' | 'select_account' | null

/**
 * Reads the prompt. `login`: an application requires a fresh sign-in. `select_account`: the person
 * chose another account. The present session continues, because a link on another site may have led
 * here.
 */
function readPrompt(c: Context<AppEnv>, text: string | null | undefined): Prompt {
  if (!c.get('page').user) return null
  return text === 'login' || text === 'select_account' ? text : null
}

export function blocksCookies(c: Context<AppEnv>, form: URLSearchParams): boolean {
  const { service } = c.get('page')
  return testCookie.isMissing(form, c.req.header('cookie') ?? null, service.url)
}

interface SignInView {
  readonly returnTo: string
  readonly email: string
  readonly prompt: Prompt
  readonly problem?: string
  readonly status?: 200 | 400 | 401
}

/** Explains who requires a fresh sign-in: an application, or a page of this service. */
const explainSignInDemand = (returnTo: string) =>
  returnTo.startsWith('/admin/')
    ? 'admin.signIn.text'
    : /^\/account(\/links)?$/.test(returnTo)
      ? 'signIn.demanded.account'
      : 'signIn.demanded'

const HEADINGS = { login: 'signIn.again', select_account: 'signIn.other' } as const

async function signInPage(c: Context<AppEnv>, view: SignInView) {
  const { service, user, t, languageQuery } = c.get('page')
  const { settings } = service.config
  const { prompt } = view
  const insteadOf = prompt === 'select_account' ? user : null
  const formTargets = [
    ...(await listRedirectTargets(view.returnTo, service)),
    ...service.upstream.providers.map(({ origin }) => origin),
  ]
  const pending = await findPendingLink(c)
  c.header('set-cookie', testCookie.header(service.url), { append: true })
  const waiting = await findSignInPurpose(view.returnTo, service)
  const kept = Object.fromEntries(new URLSearchParams(languageQuery))
  const register = `/register?${new URLSearchParams({ return_to: view.returnTo, ...kept })}`
  return renderPage(
    c,
    { title: t('signIn.title'), status: view.status ?? 200, formTargets },
    <section class="card narrow">
      <h1>{t(prompt === null ? 'signIn.title' : HEADINGS[prompt])}</h1>
      <SignInPurpose {...waiting} t={t} />
      {insteadOf && (
        <>
          <p>{t.parts('signIn.signedInAs', { email: <strong>{insteadOf.email}</strong> })}</p>
          <p>
            <a href={view.returnTo}>{t('signIn.staySignedIn')}</a>
          </p>
        </>
      )}
      {prompt === 'login' && (
        <>
          <p>{t(explainSignInDemand(view.returnTo))}</p>
          <p>
            <a href={view.returnTo}>{t('signIn.goBack')}</a>
          </p>
        </>
      )}
      {pending && <PendingLinkNotice {...pending} returnTo={view.returnTo} />}
      <Refusal text={view.problem} />
      <form method="post" action={`/login${languageQuery}`}>
        <input type="hidden" name="return_to" value={view.returnTo} />
        {prompt !== null && <input type="hidden" name="prompt" value={prompt} />}
        <TestCookieField />
        <EmailField value={view.email || (pending?.email ?? '')} />
        <TextField
          id="password"
          label={t('signIn.password')}
          input={{
            type: 'password',
            name: 'password',
            autocomplete: 'current-password',
            required: true,
          }}
        />
        <Submit class="primary wide">{t('signIn.title')}</Submit>
      </form>
      {usesPasskeys(service) && (
        <PasskeyForm
          mode="get"
          action={`/login/passkey${languageQuery}`}
          options={await service.factors.passkeys.request(null, '')}
          label={t('signIn.passkey')}
        >
          <input type="hidden" name="return_to" value={view.returnTo} />
          {prompt !== null && <input type="hidden" name="prompt" value={prompt} />}
        </PasskeyForm>
      )}
      {service.recovery.hasMail ? <ForgotLink /> : <ForgottenPassword settings={settings} />}
      <ProviderButtons
        returnTo={view.returnTo}
        // Also for a person who is signed out: the session at the provider may be old.
        prompt={prompt ?? (c.req.query('prompt') === 'login' ? 'login' : null)}
      />
      {settings.registration === 'open' && (
        <p class="aside">
          {t.parts('signIn.noAccount', { link: <a href={register}>{t('register.title')}</a> })}
        </p>
      )}
    </section>,
  )
}

/** Finds the identity at another provider that is linked when the person signs in. */
async function findPendingLink(c: Context<AppEnv>) {
  const { upstream } = c.get('page').service
  const pending = upstream.pendingLink.read(c.req.header('cookie') ?? null)
  const provider = pending && upstream.find(pending.provider)
  return provider && { email: pending.email, provider: provider.name }
}

/** Says what the next sign-in links, with a button that prevents it. */
const PendingLinkNotice: FC<{ email: string; provider: string; returnTo: string }> = (props) => {
  const { email, provider, returnTo } = props
  const { t, languageQuery } = usePage()
  return (
    <div class="notice" role="status">
      <p>{t.parts('signInWith.pending', { email: <strong>{email}</strong>, provider })}</p>
      <form method="post" action={`/login/forget-link${languageQuery}`}>
        <input type="hidden" name="return_to" value={returnTo} />
        <button type="submit" class="small">
          {t('signInWith.forget', { provider })}
        </button>
      </form>
    </div>
  )
}

/**
 * Finds the application or device that the person signs in for. Only the client id is taken from
 * the URL.
 */
export async function findSignInPurpose(returnTo: string, { oauth }: ServiceContext) {
  const device = /^\/oauth\/device(\?|$)/.test(returnTo)
  return { device, asking: await oauth.findRequestingApplication(returnTo) }
}

/** Shown if the service sends mail, by which a password can be reset. */
const ForgotLink: FC = () => (
  <p class="aside">
    <a href={RECOVERY_PATHS.forgot}>{usePage().t('recovery.forgot.link')}</a>
  </p>
)

/** Without mail passwords cannot be reset, so the page names a contact. */
const ForgottenPassword: FC<{ settings: Pick<Settings, 'name' | 'support'> }> = ({ settings }) => {
  const { name, support } = settings
  const { t } = usePage()
  if (support === null) {
    return <p class="aside">{t.parts('signIn.forgotten', { service: <bdi>{name}</bdi> })}</p>
  }
  return (
    <p class="aside">
      {t.parts('signIn.forgotten.contact', {
        contact: <a href={toContactUrl(support)}>{support}</a>,
      })}
    </p>
  )
}

export const EmailField: FC<{ value: string; problem?: string | undefined }> = (props) => (
  <TextField
    id="email"
    label={usePage().t('signIn.email')}
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
