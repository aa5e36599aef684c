import type { Context } from 'hono'
import { chooseNextStep } from '../factors/policy.ts'
import type { AppEnv } from '../http/variables.ts'
import { SignInEnded, type StillHolds } from '../sessions/account-lock.ts'
import type { SignInMethod } from '../sessions/methods.ts'
import type { FoundPendingSignIn, PendingStep } from '../sessions/pending-sign-ins.ts'
import type { User } from '../users/user.ts'
import { startSession } from './start-session.ts'

/** A first factor that a person has proved, and where they wanted to go. */
export interface FirstFactor {
  /**
   * The methods of the factor, such as `['pwd']` or `['fed']`. With `mfa`, they count as both
   * factors.
   */
  readonly methods: readonly SignInMethod[]
  /** When the person signed in, if another provider tells it. @default now */
  readonly authenticatedAt?: Date
  /** A path of this service: see `localPath()`. */
  readonly returnTo: string
  /** Checks the proof again when the session starts. */
  readonly stillHolds: StillHolds
}

/** The page of each step after the first factor. */
const STEP_PAGES = {
  'second-factor': '/login/second-step',
  enrolment: '/login/set-up',
} as const satisfies Record<PendingStep, string>

/**
 * Completes a sign-in whose first factor was right: starts a session and redirects to `returnTo`,
 * or redirects to the second step if the account needs one. Every way of signing in ends here.
 */
export async function finishFirstFactor(
  c: Context<AppEnv>,
  user: Pick<User, 'id' | 'role'>,
  { methods, authenticatedAt, returnTo, stillHolds }: FirstFactor,
): Promise<Response> {
  const { factors, config, clock } = c.get('page').service
  const { secondFactor: policy } = config.settings
  const hasFactor = policy !== 'off' && (await factors.has(user.id))
  const next = chooseNextStep({ policy, role: user.role, hasFactor, methods })
  if (next === 'session') {
    const authentication = { methods, ...(authenticatedAt && { authenticatedAt }) }
    await startSession(c, user.id, authentication, stillHolds)
    return c.redirect(await choosePageAfterSignIn(c, user.id, returnTo), 303)
  }
  const begun = {
    userId: user.id,
    authenticatedAt: authenticatedAt ?? clock.now(),
    methods,
    returnTo,
    sessionId: null,
  }
  return startStep(c, next, begun, stillHolds)
}

/**
 * Redirects a signed-in person to the second step, which adds the second factor to the session. The
 * session continues meanwhile.
 */
export async function addSecondFactor(c: Context<AppEnv>, returnTo: string): Promise<Response> {
  const { sessions } = c.get('page').service
  const session = await sessions.find(c.req.header('cookie') ?? null)
  if (!session) return c.redirect(`/login?${new URLSearchParams({ return_to: returnTo })}`, 303)
  const { userId, sessionId } = session
  return startStep(c, 'second-factor', { ...session, returnTo }, () =>
    sessions.isOpen(userId, sessionId),
  )
}

async function startStep(
  c: Context<AppEnv>,
  step: PendingStep,
  pending: Omit<FoundPendingSignIn, 'id' | 'step'>,
  stillHolds: StillHolds,
): Promise<Response> {
  const { userId, authenticatedAt, methods, returnTo, sessionId } = pending
  const started = { userId, authenticatedAt, methods, returnTo, sessionId, step }
  const cookie = await c.get('page').service.sessions.pending.start(started, stillHolds)
  c.header('set-cookie', cookie, { append: true })
  return c.redirect(`${STEP_PAGES[step]}${c.get('page').languageQuery}`, 303)
}

/** A pending sign-in and its person. */
export interface PendingPerson {
  readonly pending: FoundPendingSignIn
  readonly user: User
}

/**
 * Finds the sign-in of this browser that waits for the given step. `null` if there is none, its
 * account was disabled, or the session that the factor would be added to has ended.
 */
export async function findPendingPerson(
  c: Context<AppEnv>,
  step: PendingStep,
): Promise<PendingPerson | null> {
  const { sessions, users } = c.get('page').service
  const cookies = c.req.header('cookie') ?? null
  const pending = await sessions.pending.find(cookies)
  if (pending?.step !== step) return null
  const user = await users.findById(pending.userId)
  if (!user) return null
  if (pending.sessionId === null) return { pending, user }
  const session = await sessions.find(cookies)
  return session?.sessionId === pending.sessionId ? { pending, user } : null
}

/**
 * Completes a sign-in whose second factor was right. Starts a session with a new id. The time of
 * the sign-in (`auth_time`) is that of its first factor. Returns `false` if another request has
 * completed it.
 */
export async function finishSecondFactor(
  c: Context<AppEnv>,
  { pending, user }: PendingPerson,
  methods: readonly SignInMethod[],
): Promise<boolean> {
  const { sessions } = c.get('page').service
  const authentication = {
    methods: combineFactors(pending.methods, methods),
    authenticatedAt: pending.authenticatedAt,
  }
  try {
    await startSession(c, user.id, authentication, async () => {
      if (!(await sessions.pending.end(pending.id))) return false
      if (pending.step === 'enrolment') await endOtherSessions(c, user.id)
      return true
    })
  } catch (error) {
    if (error instanceof SignInEnded) return false
    throw error
  }
  c.header('set-cookie', sessions.pending.forgetCookie(), { append: true })
  return true
}

/** Starts a new session with the methods of the present one and of a factor that was just added. */
export async function addToSession(
  c: Context<AppEnv>,
  methods: readonly SignInMethod[],
): Promise<void> {
  const { sessions } = c.get('page').service
  const session = await sessions.find(c.req.header('cookie') ?? null)
  if (!session) return
  const { userId, sessionId, authenticatedAt } = session
  const authentication = { methods: combineFactors(session.methods, methods), authenticatedAt }
  await startSession(c, userId, authentication, () => sessions.isOpen(userId, sessionId))
}

/**
 * Ends the person's sessions in other browsers. They began without the second factor that was just
 * added, perhaps with a stolen password.
 */
export async function endOtherSessions(c: Context<AppEnv>, userId: string): Promise<void> {
  const { sessions, oauth } = c.get('page').service
  const own = await sessions.find(c.req.header('cookie') ?? null)
  for (const { id } of await sessions.list(userId)) {
    if (id === own?.sessionId) continue
    await oauth.endSession(id)
    await sessions.endOwn(userId, id)
  }
}

function combineFactors(first: readonly string[], second: readonly SignInMethod[]): string[] {
  return [...new Set([...first, ...second, 'mfa'])]
}

/**
 * Returns the page that follows a sign-in: `returnTo`, unless the person must be told that an
 * operator removed their second factors.
 */
export async function choosePageAfterSignIn(
  c: Context<AppEnv>,
  userId: string,
  returnTo: string,
): Promise<string> {
  const { factors, config } = c.get('page').service
  if (config.settings.secondFactor === 'off' || !(await factors.wasReset(userId))) return returnTo
  return `/account/security?${new URLSearchParams({ return_to: returnTo })}`
}
