import type { Context, Hono } from 'hono'
import { readText } from '../http/readable.ts'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import type { PageMessages } from '../messages/en.ts'
import { finishFirstFactor } from '../sign-in/finish.ts'
import { createAttempt, logFailure, toUpstreamAttempt } from '../upstream/attempt.ts'
import { decideSignIn, type SignInDecision } from '../upstream/decide.ts'
import {
  UpstreamFailure,
  type UpstreamIdentity,
  type UpstreamProvider,
} from '../upstream/providers/provider.ts'
import { callbackPath, type SignInAttempt } from '../upstream/upstream.ts'
import { IdentityTaken } from '../users/linked-identities.ts'
import { emailKey, InvalidAccount, isEmail, toName } from '../users/parse.ts'
import { readForm } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'
import { blocksCookies, demandsFreshSignIn } from './sign-in.tsx'

/** Adds the routes of a sign-in with another provider. */
export function addSignInWithRoutes(app: Hono<AppEnv>): void {
  app.post('/login/with/:provider', async (c) => {
    const { service } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const provider = service.upstream.find(c.req.param('provider'))
    if (!provider) return c.notFound()
    if (blocksCookies(c, form)) return problemPage(c, provider, 'noCookies', { returnTo })
    // Also for a person who is signed out here: the provider may have a session from long ago.
    const isFresh = form.get('prompt') === 'login' || demandsFreshSignIn(returnTo, service)
    return redirectToProvider(c, provider, { returnTo, isFresh, linkFor: null })
  })

  app.post('/login/forget-link', async (c) => {
    const { upstream } = c.get('page').service
    const returnTo = localPath((await readForm(c)).get('return_to'))
    c.header('set-cookie', upstream.pendingLink.deletion, { append: true })
    return c.redirect(signInPath(returnTo), 303)
  })

  app.get(callbackPath(':provider'), async (c) => {
    const { service } = c.get('page')
    const provider = service.upstream.find(c.req.param('provider') ?? '')
    if (!provider) return c.notFound()
    const response = new URL(c.req.url).searchParams
    const attempt = service.upstream.attempt.read(c.req.header('cookie') ?? null)
    // Before anything else, so that a link on another site cannot end an attempt.
    if (attempt?.provider !== provider.id || response.get('state') !== attempt.state) {
      return problemPage(c, provider, 'expired', { returnTo: '/' })
    }
    c.header('set-cookie', service.upstream.attempt.deletion, { append: true })
    return conclude(c, provider, attempt, response)
  })

  // Browsers send no cookie with a form from another site, so this leads to a page of ours.
  app.post(callbackPath(':provider'), async (c) => {
    const provider = c.get('page').service.upstream.find(c.req.param('provider') ?? '')
    if (!provider?.postsResponse) return c.notFound()
    const form = new URLSearchParams(await readText(c))
    const kept = [...form].filter(([name]) => RESPONSE.includes(name))
    return c.redirect(`${callbackPath(provider.id)}?${new URLSearchParams(kept)}`, 303)
  })
}

/** Path of the page on which people link and unlink other providers. */
export const LINKS_PATH = '/account/links'

/** Parameters of an authorization response. */
const RESPONSE: readonly string[] = ['code', 'state', 'iss', 'error']

const signInPath = (returnTo: string) => `/login?${new URLSearchParams({ return_to: returnTo })}`

/** Starts a sign-in with another provider, and redirects to the provider. */
export async function redirectToProvider(
  c: Context<AppEnv>,
  provider: UpstreamProvider,
  more: Pick<SignInAttempt, 'returnTo' | 'isFresh' | 'linkFor'>,
): Promise<Response> {
  const { service } = c.get('page')
  const attempt = createAttempt(provider, more, service.clock.now())
  const cookie = service.upstream.attempt.serialize(attempt)
  if (cookie === null) return problemPage(c, provider, 'tooLong', more)
  let url: URL
  try {
    url = await provider.begin(toUpstreamAttempt(attempt, service.url))
  } catch (error) {
    return showFailure(c, provider, error, attempt)
  }
  c.header('set-cookie', cookie, { append: true })
  if (url.origin === provider.origin) return c.redirect(url.href, 303)
  // The policy of the page with the form names only origins that are known without a request.
  c.header('refresh', `0; url=${url.href}`)
  const { t } = c.get('page')
  return renderPage(
    c,
    { title: t('signInWith.title') },
    <section class="card narrow">
      <h1>{t('signInWith.title')}</h1>
      <p>
        <a href={url.href}>{t('signInWith.continue', { provider: provider.name })}</a>
      </p>
    </section>,
  )
}

/** Failures that do not count toward the rate limit, because no caller can cause them. */
const BLAMELESS: readonly string[] = ['cancelled', 'unavailable']

/** Validates the provider's response, and does what it allows. */
async function conclude(
  c: Context<AppEnv>,
  provider: UpstreamProvider,
  attempt: SignInAttempt,
  response: URLSearchParams,
): Promise<Response> {
  const { service } = c.get('page')
  const uncount = await service.limits.countSignInWith(c.get('network'))
  let identity: UpstreamIdentity
  try {
    const found = await provider.finish(response, toUpstreamAttempt(attempt, service.url))
    const { email } = found
    identity = { ...found, email: email !== null && isEmail(email) ? email.trim() : null }
  } catch (error) {
    const isBlameless = error instanceof UpstreamFailure && BLAMELESS.includes(error.reason)
    if (isBlameless) await uncount()
    else service.metrics.countSignIn('failed')
    return showFailure(c, provider, error, attempt)
  }
  await uncount()
  const told = { provider, attempt, identity }
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await carryOut(c, told, await decide(c, told))
    } catch (error) {
      // Another request created the account or the link meanwhile.
      const isRace = error instanceof InvalidAccount || error instanceof IdentityTaken
      if (!isRace || repeats === 2) throw error
    }
  }
}

/** A person whom a provider has identified. */
interface Told {
  readonly provider: UpstreamProvider
  readonly attempt: SignInAttempt
  readonly identity: UpstreamIdentity
}

async function decide(
  c: Context<AppEnv>,
  { provider, attempt, identity }: Told,
): Promise<SignInDecision> {
  const { users, config } = c.get('page').service
  // In this order, because another request may create both meanwhile: with the account, its link is found.
  const holder = identity.email === null ? null : await users.findAccount(identity.email)
  const link = await users.identities.find(provider.id, identity.subject)
  const account = link && (await users.findAccount(link.userId))
  return decideSignIn({
    identity,
    linked: link && { userId: link.userId, isEnabled: account !== null && !account.disabledAt },
    holder: holder && { userId: holder.id },
    linkFor: attempt.linkFor?.userId ?? null,
    registration: config.settings.registration === 'open',
  })
}

async function carryOut(
  c: Context<AppEnv>,
  { provider, attempt, identity }: Told,
  decision: SignInDecision,
): Promise<Response> {
  const { service } = c.get('page')
  const { users, limits, metrics } = service
  const { returnTo } = attempt
  const { subject, email } = identity
  const own = { provider: provider.id, subject, email }
  const authenticatedAt = toSignInTime(identity, service.clock.now())
  const factor = {
    methods: ['fed'],
    returnTo,
    ...(authenticatedAt && { authenticatedAt }),
    stillHolds: async () => (await users.identities.find(provider.id, subject)) !== null,
  } as const
  switch (decision.kind) {
    case 'sign-in': {
      const link = await users.identities.find(provider.id, subject)
      if (link) await users.identities.recordUse(link.id)
      const user = await users.findById(decision.userId)
      if (!user) return problemPage(c, provider, 'disabled', attempt)
      await limits.rememberNetwork(emailKey(user.email), c.get('network'))
      metrics.countSignIn('succeeded')
      return finishFirstFactor(c, user, factor)
    }
    case 'create': {
      const account = { email: email ?? '', name: toName(identity.name) }
      const user = await limits.register(c.get('network'), () => users.createWith(account, own))
      metrics.countSignIn('succeeded')
      return finishFirstFactor(c, user, factor)
    }
    case 'confirm': {
      const pending = { ...own, email: email ?? '', userId: decision.userId }
      const cookie = service.upstream.pendingLink.serialize(pending)
      if (cookie !== null) c.header('set-cookie', cookie, { append: true })
      const prompt = c.get('page').user ? '&prompt=select_account' : ''
      return c.redirect(`${signInPath(returnTo)}${prompt}`, 303)
    }
    case 'link': {
      const session = await service.sessions.find(c.req.header('cookie') ?? null)
      const isSame =
        session?.userId === decision.userId && session.sessionId === attempt.linkFor?.sessionId
      if (!isSame) return problemPage(c, provider, 'expired', attempt)
      await users.identities.link(decision.userId, own, (write) =>
        service.sessions.whileOpen(session.userId, session.sessionId, write),
      )
      const person = await users.findById(decision.userId)
      if (person) {
        await service.recovery.notify(person, 'sign_in_method_added', provider.name)
      }
      return c.redirect(`${LINKS_PATH}?linked`, 303)
    }
    case 'refuse':
      return problemPage(c, provider, decision.because, attempt)
  }
}

const DAY = 24 * 3600_000
/** Oldest sign-in at a provider that is recorded, because sessions end a month after the sign-in. */
const OLDEST = 15 * DAY

/** Returns when the person signed in at the provider, as the session records it. */
function toSignInTime({ authenticatedAt }: UpstreamIdentity, now: Date): Date | null {
  if (authenticatedAt === null) return null
  const at = Math.max(authenticatedAt.getTime(), now.getTime() - OLDEST)
  return new Date(Math.min(at, now.getTime()))
}

type Problem =
  Extract<
    keyof PageMessages,
    `signInWith.problem.${string}`
  > extends `signInWith.problem.${infer Name}`
    ? Name
    : never

const STATUS: Partial<Record<Problem, 403 | 502>> = {
  unavailable: 502,
  linkedElsewhere: 403,
  disabled: 403,
  unverified: 403,
  closed: 403,
}

function showFailure(
  c: Context<AppEnv>,
  provider: UpstreamProvider,
  error: unknown,
  attempt: Pick<SignInAttempt, 'returnTo' | 'linkFor'>,
) {
  if (!(error instanceof UpstreamFailure)) throw error
  logFailure(c.get('page').service.logger, provider, error)
  return problemPage(c, provider, error.reason, attempt)
}

/** Says why the sign-in failed, and leads back. */
function problemPage(
  c: Context<AppEnv>,
  { name: provider }: UpstreamProvider,
  problem: Problem,
  {
    returnTo,
    linkFor = null,
  }: { readonly returnTo: string } & Partial<Pick<SignInAttempt, 'linkFor'>>,
) {
  const { t, service } = c.get('page')
  const title = t('signInWith.failed.title', { provider })
  const back = linkFor ? LINKS_PATH : signInPath(returnTo)
  return renderPage(
    c,
    { title, status: STATUS[problem] ?? 400 },
    <section class="card narrow">
      <h1>{title}</h1>
      <p>
        {t(`signInWith.problem.${problem}`, { provider, service: service.config.settings.name })}
      </p>
      <p class="aside">
        <a href={back}>{t(linkFor ? 'signInWith.backToLinks' : 'signInWith.back')}</a>
      </p>
    </section>,
  )
}
