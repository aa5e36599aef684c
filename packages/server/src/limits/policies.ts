/** So many failures in so many seconds, counted by whatever the key names. */
export interface Policy {
  readonly points: number
  readonly seconds: number
}

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * Only failures count, and only a password's stop what may be right: the strict limit is on the pair of
 * account and network, those on an account or a network alone let through whoever comes from a network
 * the account was used from before (threat L2, threat N2). Of client secrets, codes and tokens only wrong ones
 * are refused.
 */
export const policies = {
  /** Passwords: one account from one network. A success clears it. */
  passwordPair: { points: 10, seconds: 15 * MINUTE },
  /** Passwords: one account from everywhere. */
  passwordAccount: { points: 100, seconds: HOUR },
  /** Passwords: one network, whatever the account. */
  passwordNetwork: { points: 100, seconds: HOUR },
  /** Passwords of somebody signed in, who changes it: one session. A success clears it. */
  passwordSession: { points: 10, seconds: 15 * MINUTE },
  /** Wrong client secrets: one client from one network. */
  clientPair: { points: 30, seconds: 10 * MINUTE },
  /** Wrong client secrets: one client from everywhere. */
  clientAnywhere: { points: 1000, seconds: HOUR },
  /** Wrong codes and refresh tokens that one client shows from one network. */
  grantPair: { points: 300, seconds: 10 * MINUTE },
  /** Wrong client secrets, codes and tokens from one network. */
  tokenNetwork: { points: 1000, seconds: 10 * MINUTE },
  /** Cards that were declined: whoever holds stolen numbers must not find out here which work. */
  cardsAccount: { points: 10, seconds: HOUR },
  /** The same for a network; not for accounts whose card was taken from there before. */
  cardsNetwork: { points: 50, seconds: HOUR },
  /** New accounts from one network; these succeed and count all the same. */
  registrations: { points: 20, seconds: HOUR },
  /** Codes for devices that clients without a secret ask for from one network; these succeed and count all the same. */
  deviceCodes: { points: 300, seconds: 10 * MINUTE },
  /** Requests that clients without a secret push from one network; these succeed and count all the same. */
  pushedRequests: { points: 300, seconds: 10 * MINUTE },
  /** Failed requests with a DPoP proof by one client without a secret, from one network: each proof is a row. */
  keyProofs: { points: 300, seconds: 10 * MINUTE },
  /** Clients that register themselves from one network, where everybody may; tries count all the same. */
  clientRegistrations: { points: 100, seconds: 10 * MINUTE },
} as const satisfies Record<string, Policy>

export type PolicyName = keyof typeof policies

/** Passwords of one network that one process compares or has waiting, of the 64 that may wait. */
export const PASSWORDS_AT_ONCE = 32
