import { CLOCK_SKEW_MS, type Clock } from '../clock.ts'
import { InsufficientUserAuthentication, type SignInDemands } from '../errors.ts'
import { parseSeconds } from '../lifetimes.ts'

/** The user's sign-in as described by an access token. */
export interface CallerSignIn {
  /** When the user authenticated. `null` if the application does not provide it. */
  readonly at: Date | null
  /** Authentication context class of the sign-in. `null` if the application does not provide it. */
  readonly acr: string | null
}

/** Requirements of a route on the user's sign-in. At least one is needed. */
export interface StepUpDemand {
  /** Accepted authentication context class, or a list of them. */
  readonly acr?: string | readonly string[]
  /** Maximum age of the sign-in: seconds, or a duration such as `'15m'`. */
  readonly maxAge?: string | number
}

/**
 * The part of a caller that the check reads. Callers in cookie mode have no `signIn` and always
 * fail.
 */
interface SignedInCaller {
  readonly boundToKey?: boolean
  readonly signIn?: CallerSignIn | null
}

/**
 * Builds a check of the user's sign-in (RFC 9470 §3). Information missing from the token counts as
 * a failure.
 */
export function createSignInCheck(
  demand: StepUpDemand,
  clock: Clock,
): (caller: SignedInCaller) => void {
  const demands = parseDemand(demand)
  const { acrValues, maxAge } = demands
  return ({ signIn, boundToKey }) => {
    const at = signIn?.at ?? null
    const acr = signIn?.acr ?? null
    const isStrong = acrValues === undefined || (acr !== null && acrValues.includes(acr))
    const isRecent = maxAge === undefined || (at !== null && isWithin(maxAge, at, clock))
    if (isStrong && isRecent) return
    const message = isStrong
      ? 'A more recent sign-in is required'
      : 'A stronger sign-in is required'
    throw new InsufficientUserAuthentication(message, demands, boundToKey ? 'DPoP' : 'Bearer')
  }
}

/**
 * Whether the sign-in is at most this old. Rejects a sign-in in the future, which would satisfy
 * every maximum age.
 */
function isWithin(seconds: number, at: Date, clock: Clock): boolean {
  const age = clock.now().getTime() - at.getTime()
  return age <= seconds * 1000 && age >= -CLOCK_SKEW_MS
}

function parseDemand({ acr, maxAge }: StepUpDemand): SignInDemands {
  const acrValues = acr === undefined ? undefined : [acr].flat()
  if (
    acrValues?.length === 0 ||
    acrValues?.some((value) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value))
  ) {
    throw new TypeError(
      'stepUp: acr must be one or more names of printable ASCII characters, without spaces, double quotes and backslashes.',
    )
  }
  if (acrValues === undefined && maxAge === undefined) {
    throw new TypeError(
      "stepUp: give at least one requirement, e.g. { maxAge: '15m' } or { acr: 'mfa' }.",
    )
  }
  return {
    ...(acrValues && { acrValues }),
    ...(maxAge !== undefined && { maxAge: parseSeconds('stepUp: maxAge', maxAge) }),
  }
}
