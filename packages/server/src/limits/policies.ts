/** So many failures in so many seconds, counted by whatever the key names. */
export interface Policy {
  readonly points: number
  readonly seconds: number
}

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * Only failures count. The strict ones are on pairs, so that somebody who guesses elsewhere cannot
 * lock the owner out; those on an account alone let through whoever comes from a network the account
 * has signed in from before (threats L2).
 */
export const policies = {
  /** Passwords: one account from one network. A success clears it. */
  passwordPair: { points: 10, seconds: 15 * MINUTE },
  /** Passwords: one account from everywhere. */
  passwordAccount: { points: 100, seconds: HOUR },
  /** Passwords: one network, whatever the account. */
  passwordNetwork: { points: 100, seconds: HOUR },
  /** Client secrets: one client from one network. A success clears it. */
  clientPair: { points: 30, seconds: 10 * MINUTE },
  /** Client secrets: one client from everywhere. */
  clientAnywhere: { points: 1000, seconds: HOUR },
  /** Codes and refresh tokens that one client shows from one network. */
  grantPair: { points: 300, seconds: 10 * MINUTE },
  /** Client secrets, codes and tokens: everything that fails from one network. */
  tokenNetwork: { points: 1000, seconds: 10 * MINUTE },
  /** Cards that were declined: whoever holds stolen numbers must not find out here which work. */
  cardsAccount: { points: 10, seconds: HOUR },
  cardsNetwork: { points: 50, seconds: HOUR },
  /** New accounts from one network; these succeed and count all the same. */
  registrations: { points: 20, seconds: HOUR },
} as const satisfies Record<string, Policy>

export type PolicyName = keyof typeof policies

/** How long a network counts as one the account signs in from. */
export const KNOWN_NETWORK_SECONDS = 90 * 24 * HOUR
