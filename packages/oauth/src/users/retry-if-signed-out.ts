import type { ServerContext } from '../context.ts'

/** From before it was asked who is signed in, so that an end of the sign-in in between counts. */
export interface SignInMark {
  readonly at: Date
  /** The same by the clock of the store, in milliseconds. */
  readonly storeAt: number
  /** Of the feed. */
  readonly endings: number
}

const MOST_LOOKS = 3

/**
 * Acts for whoever is signed in. `act` gives null when that person was signed out everywhere since the
 * mark; then it is asked again who is signed in: nobody any more, or somebody who came back. Null when
 * nobody is.
 */
export async function whileSignedIn<Person, Done>(
  context: Pick<ServerContext, 'feed' | 'options'>,
  look: () => Promise<Person | null | undefined>,
  act: (person: Person, mark: SignInMark) => Promise<Done | null>,
): Promise<Done | null> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const { feed, options } = context
    const mark = {
      at: options.clock.now(),
      storeAt: feed.storeNow(),
      endings: feed.endings(),
    }
    const person = await look()
    if (person === null || person === undefined) return null
    const done = await act(person, mark)
    if (done !== null) return done
  }
  return null
}
