import type { Role } from '../users/roles.ts'

/** The values of the setting `secondFactor`. */
export const SECOND_FACTOR_POLICIES = ['off', 'optional', 'operators', 'required'] as const

export type SecondFactorPolicy = (typeof SECOND_FACTOR_POLICIES)[number]

/** The step after a first factor: the session, the second factor, or setting one up. */
export type NextStep = 'session' | 'second-factor' | 'enrolment'

/** Decides what follows a first factor that was right. All such decisions are made here. */
export function chooseNextStep(sign: {
  readonly policy: SecondFactorPolicy
  readonly role: Role | null
  /** Whether the account has a passkey or an authenticator app. */
  readonly hasFactor: boolean
  /** The methods proved so far. */
  readonly methods: readonly string[]
}): NextStep {
  if (sign.policy === 'off' || sign.methods.includes('mfa')) return 'session'
  if (sign.hasFactor) return 'second-factor'
  return isRequired(sign.policy, sign.role) ? 'enrolment' : 'session'
}

/** Whether accounts with this role need a second factor. */
export function isRequired(policy: SecondFactorPolicy, role: Role | null): boolean {
  return policy === 'required' || (policy === 'operators' && role !== null)
}

/** How a person must sign in before their second factors may be changed. */
export type ChangeDemand = 'none' | 'sign-in' | 'second-factor'

/**
 * Decides whether a session may change second factors: the sign-in must be recent, and prove a
 * second factor if the account has one. Otherwise a session from before the first factor could
 * remove it.
 */
export function chooseChangeDemand(session: {
  readonly isFresh: boolean
  readonly hasFactor: boolean
  readonly methods: readonly string[]
}): ChangeDemand {
  if (!session.isFresh) return 'sign-in'
  return session.hasFactor && !session.methods.includes('mfa') ? 'second-factor' : 'none'
}

/**
 * The step that a signed-in person must take for a request that their session does not satisfy:
 * repeat the `complete` sign-in, prove a `second-factor`, or set one up (`enrolment`).
 */
export type RequiredSignInStep = 'complete' | 'second-factor' | 'enrolment'

/**
 * Decides what a signed-in person must do for a request that names `acr_values`. The password is
 * asked again only if the request demands a fresh sign-in.
 */
export function chooseRequiredSignInStep(request: {
  readonly policy: SecondFactorPolicy
  /** Whether the request prefers or demands the acr `mfa`. */
  readonly wantsMfa: boolean
  /** Whether the request demands a fresh sign-in, by `prompt=login` or `max_age`. */
  readonly wantsFresh: boolean
  readonly hasFactor: boolean
  readonly methods: readonly string[]
}): RequiredSignInStep {
  const { policy, wantsMfa, wantsFresh, hasFactor, methods } = request
  if (policy === 'off' || !wantsMfa || wantsFresh || methods.includes('mfa')) return 'complete'
  return hasFactor ? 'second-factor' : 'enrolment'
}
