import { CLOCK_SKEW_MS } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import type { Form } from '../http/form.ts'
import { readSignedTime, signRequestTime, type TimedRequest } from './signed-time.ts'

/** How recent the sign-in must be for an authorization request (OpenID Connect Core §3.1.2.1). */
export interface SignInDemand {
  /** Whether the person has to sign in for this request (`prompt=login`). */
  readonly again: boolean
  /** Longest accepted age of the sign-in, in seconds (`max_age`). `null` for any. */
  readonly maxAge: number | null
  /**
   * When the person was redirected to sign in for this request (see `formatSignInMarker`). `null`
   * if the person was not redirected.
   */
  readonly askedAt: Date | null
}

export type SignInFreshness =
  | 'good'
  /** The sign-in is too old, or the person was not asked to sign in again yet. */
  | 'sign in'
  /** The person was redirected to sign in and returned with the old sign-in. */
  | 'came back without'
  /** The application does not report when the person signed in, or reports a future date. */
  | 'cannot tell'

/**
 * Decides whether a sign-in is as recent as the authorization request demands. If `authenticatedAt`
 * is `null`, no demand can be met.
 */
export function checkSignInFreshness(
  demand: SignInDemand,
  authenticatedAt: Date | null,
  now: Date,
): SignInFreshness {
  const { again, maxAge, askedAt } = demand
  if (!again && maxAge === null && askedAt === null) return 'good'
  if (authenticatedAt === null) return 'cannot tell'
  const age = now.getTime() - authenticatedAt.getTime()
  // A sign-in in the future would satisfy every demand.
  if (age < -CLOCK_SKEW_MS) return 'cannot tell'
  if (askedAt !== null) {
    return authenticatedAt.getTime() > askedAt.getTime() ? 'good' : 'came back without'
  }
  if (again) return 'sign in'
  return age <= (maxAge ?? 0) * 1000 ? 'good' : 'sign in'
}

/**
 * Name of a query parameter in the return URL of the sign-in page. Its value is the signed time at
 * which the person was redirected to sign in.
 */
export const SIGN_IN_MARKER_PARAM = 'sign_in_asked'

/**
 * Name of a query parameter in the return URL of the sign-in page. It records that the person was
 * asked to use another account. It is not signed, because forging it only causes an error earlier.
 */
export const OTHER_ACCOUNT_PARAM = 'other_account'

/**
 * Name of a query parameter in the return URL of the sign-in page. It records that the person was
 * asked for a stronger sign-in, so that the person is asked only once.
 */
export const STRONGER_SIGN_IN_PARAM = 'better_sign_in'

/**
 * Parameters that the signed marker does not cover: the markers themselves, and the parameters that
 * demand a sign-in, which the marker proves.
 */
const UNSIGNED_PARAMETERS: readonly string[] = [
  SIGN_IN_MARKER_PARAM,
  OTHER_ACCOUNT_PARAM,
  STRONGER_SIGN_IN_PARAM,
  'prompt',
  'max_age',
]

/**
 * Formats the value of the query parameter `sign_in_asked`: the current time, signed, and valid
 * only for this authorization request.
 */
export function formatSignInMarker(params: Form, context: ServerContext): string {
  return signRequestTime(context.clock.now(), toTimedRequest(params), context)
}

/**
 * Reads the query parameter `sign_in_asked`: the time at which the person was redirected to sign in
 * for this authorization request. Returns `null` if it is missing, or belongs to another request.
 */
export function readSignInMarker(params: Form, context: ServerContext): Date | null {
  return readSignedTime(params.get(SIGN_IN_MARKER_PARAM), toTimedRequest(params), context)
}

function toTimedRequest(params: Form): TimedRequest {
  const bound = [...params].filter(([name]) => !UNSIGNED_PARAMETERS.includes(name)).sort(byName)
  return { purpose: 'sign-in requests', parts: bound.flat() }
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1
}
