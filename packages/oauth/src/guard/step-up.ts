import { CLOCK_SKEW, type Clock } from '../clock.ts'
import { InsufficientUserAuthentication, type SignInDemands } from '../errors.ts'
import { parseSeconds } from '../lifetimes.ts'

/** What a token says of the sign-in behind it. */
export interface CallerSignIn {
  /** When the person had signed in; null where the application does not say. */
  readonly at: Date | null
  /** How well that was proven; null where the application does not say. */
  readonly acr: string | null
}

/** What a route demands of the sign-in behind a token. */
export interface StepUpDemand {
  /** How well it was proven: this, or one of these. */
  readonly acr?: string | readonly string[]
  /** How long ago it may be: seconds, or `'15m'`. */
  readonly maxAge?: string | number
}

/** Whoever calls: a user, a client, or the page of cookie mode, which says nothing of its sign-in. */
interface SignedInCaller {
  readonly boundToKey?: boolean
  readonly signIn?: CallerSignIn | null
}

/** RFC 9470 §3. What a token does not say counts as not proven. */
export function signInCheck(demand: StepUpDemand, clock: Clock): (caller: SignedInCaller) => void {
  const demands = parseDemand(demand)
  const { acrValues, maxAge } = demands
  return ({ signIn, boundToKey }) => {
    const at = signIn?.at ?? null
    const acr = signIn?.acr ?? null
    const well = acrValues === undefined || (acr !== null && acrValues.includes(acr))
    const lately = maxAge === undefined || (at !== null && isWithin(maxAge, at, clock))
    if (well && lately) return
    const message = well ? 'The sign-in is too long ago' : 'The sign-in was not proven well enough'
    throw new InsufficientUserAuthentication(message, demands, boundToKey ? 'DPoP' : 'Bearer')
  }
}

/** A sign-in in the future would be more recent than any demand. */
function isWithin(seconds: number, at: Date, clock: Clock): boolean {
  const age = clock.now().getTime() - at.getTime()
  return age <= seconds * 1000 && age >= -CLOCK_SKEW
}

function parseDemand({ acr, maxAge }: StepUpDemand): SignInDemands {
  const acrValues = acr === undefined ? undefined : [acr].flat()
  if (
    acrValues?.length === 0 ||
    acrValues?.some((value) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value))
  ) {
    throw new TypeError('stepUp: acr is one or more names of printable characters without blanks.')
  }
  if (acrValues === undefined && maxAge === undefined) {
    throw new TypeError("stepUp: say what is demanded, e.g. { maxAge: '15m' } or { acr: 'mfa' }.")
  }
  return {
    ...(acrValues && { acrValues }),
    ...(maxAge !== undefined && { maxAge: parseSeconds('stepUp: maxAge', maxAge) }),
  }
}
