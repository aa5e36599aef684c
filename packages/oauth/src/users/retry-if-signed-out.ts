import type { Clock } from '../clock.ts'
import type { RevocationFeed } from '../revocations/feed.ts'

/**
 * A mark taken before looking up who is signed in, so that a sign-out after that moment is noticed.
 */
export interface SignInMark {
  readonly at: Date
  /** Equivalent of `at` by the clock of the store, in milliseconds. */
  readonly storeAt: number
  /**
   * Number of sign-outs read from the revocation feed so far. See
   * `RevocationFeed.signedOutSince()`.
   */
  readonly signOutMark: number
}

const MAX_ATTEMPTS = 3

/**
 * Calls `findPerson` for the signed-in user, then `act` for that user. If `act` returns `null`,
 * because the user was signed out everywhere in the meantime, calls both again. Returns `null` if
 * no user is signed in.
 */
export async function retryIfSignedOut<Person, Done>(
  { feed, clock }: { readonly feed: RevocationFeed; readonly clock: Clock },
  findPerson: () => Promise<Person | null | undefined>,
  act: (person: Person, mark: SignInMark) => Promise<Done | null>,
): Promise<Done | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const mark = { at: clock.now(), storeAt: feed.storeNow(), signOutMark: feed.signOutMark() }
    const person = await findPerson()
    if (person === null || person === undefined) return null
    const done = await act(person, mark)
    if (done !== null) return done
  }
  return null
}
