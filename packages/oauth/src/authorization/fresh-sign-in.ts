import { CLOCK_SKEW } from '../clock.ts'

/** What a request asks of the sign-in behind it (OpenID Connect Core §3.1.2.1). */
export interface SignInDemand {
  /** `prompt=login`: the person signs in for this very request. */
  readonly again: boolean
  /** `max_age`, in seconds. */
  readonly maxAge: number | null
  /** When the person was sent to sign in for this very request: see sign-in-marker.ts. */
  readonly askedAt: Date | null
}

export type SignInVerdict =
  | 'good'
  /** Too old, or not asked for yet. */
  | 'sign in'
  /** They were sent to sign in and came back with the sign-in they had. */
  | 'came back without'
  /** The application does not say when the person signed in. */
  | 'cannot tell'

/** Whether a sign-in is as recent as the request demands. Nothing that is missing counts as proof. */
export function judgeSignIn(
  demand: SignInDemand,
  authenticatedAt: Date | null,
  now: Date,
): SignInVerdict {
  const { again, maxAge, askedAt } = demand
  if (!again && maxAge === null && askedAt === null) return 'good'
  if (authenticatedAt === null) return 'cannot tell'
  const age = now.getTime() - authenticatedAt.getTime()
  // A sign-in in the future would be more recent than any demand.
  if (age < -CLOCK_SKEW) return 'cannot tell'
  if (askedAt !== null) {
    return authenticatedAt.getTime() > askedAt.getTime() ? 'good' : 'came back without'
  }
  if (again) return 'sign in'
  return age <= (maxAge ?? 0) * 1000 ? 'good' : 'sign in'
}
