import type { Clock } from '../clock.ts'
import type { RevocationFeed } from '../revocations/feed.ts'

/** Taken before it is asked who is signed in, because an end of the sign-in after that must count. */
export interface SignInMark {
  readonly at: Date
  /** The same by the clock of the store, in milliseconds. */
  readonly storeAt: number
  /** What the feed had read of people signed out everywhere: see `RevocationFeed.signedOutSince`. */
  readonly signOutMark: number
}

const MOST_LOOKS = 3

/**
 * Acts for whoever is signed in. `act` gives null when that person was signed out everywhere since the
 * mark; then it is asked again who is signed in: nobody any more, or somebody who came back. Null when
 * nobody is.
 */
export async function retryIfSignedOut<Person, Done>(
  { feed, clock }: { readonly feed: RevocationFeed; readonly clock: Clock },
  look: () => Promise<Person | null | undefined>,
  act: (person: Person, mark: SignInMark) => Promise<Done | null>,
): Promise<Done | null> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const mark = { at: clock.now(), storeAt: feed.storeNow(), signOutMark: feed.signOutMark() }
    const person = await look()
    if (person === null || person === undefined) return null
    const done = await act(person, mark)
    if (done !== null) return done
  }
  return null
}
