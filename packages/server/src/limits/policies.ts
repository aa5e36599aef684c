import type { GuessingPolicy, RatePolicy } from '@tollgate/oauth'

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * What can be guessed, by the rule of `createGuessingLimits()`: failures keep their place, nothing else does. The
 * strict limit is on the pair of account and network; those on an account or a network alone let everybody through who
 * comes from a network that the account was used from before (threat L2, threat N2).
 */
export const guesses = {
  /** Passwords: one account from one network. */
  passwordPair: { most: 10, seconds: 15 * MINUTE, clears: true },
  /** Passwords: one account from everywhere. */
  passwordAccount: { most: 100, seconds: HOUR },
  /** Passwords: one network, whatever the account. */
  passwordNetwork: { most: 100, seconds: HOUR },
  /** The password asked of somebody who is signed in: one session. */
  passwordSession: { most: 10, seconds: 15 * MINUTE, clears: true },
  /** Cards that were declined: nobody finds out here which stolen numbers work. A provider may take its time. */
  cardsAccount: { most: 10, seconds: HOUR, leaseSeconds: 2 * MINUTE },
  /** The same for a network; not for accounts whose card was taken from there before. */
  cardsNetwork: { most: 50, seconds: HOUR, leaseSeconds: 2 * MINUTE },
} as const satisfies Record<string, GuessingPolicy>

export type GuessName = keyof typeof guesses

/**
 * Wrong client secrets, codes and tokens. They have 256 random bits, so they are checked first, and only wrong ones are
 * counted and refused: no number of failures stops a right one.
 */
export const failures = {
  /** Wrong client secrets: one client from one network. */
  clientPair: { points: 30, seconds: 10 * MINUTE },
  /** Wrong client secrets: one client from everywhere. */
  clientAnywhere: { points: 1000, seconds: HOUR },
  /** Wrong codes and refresh tokens that one client shows from one network. */
  grantPair: { points: 300, seconds: 10 * MINUTE },
  /** Wrong client secrets, codes and tokens from one network. */
  tokenNetwork: { points: 1000, seconds: 10 * MINUTE },
} as const satisfies Record<string, Omit<RatePolicy, 'name'>>

export type FailureName = keyof typeof failures

/** Each of `failures` has so many counts at most, whatever names strangers make up. */
export const FAILURE_COUNTS = 65_536

/** What strangers make us do or store, by the rule of `createResourceLimits()`: successes count as well. */
export const rates = {
  /** New accounts from one network. */
  registrations: { name: 'registrations of accounts', points: 20, seconds: HOUR },
  /** Failed requests with a DPoP proof by clients without a secret, from one network: each proof is a row. */
  keyProofs: { name: 'DPoP proofs', points: 300, seconds: 10 * MINUTE },
} as const satisfies Record<string, RatePolicy>

/** Passwords that one process compares or has waiting. */
export const turnPolicy = {
  /** Compared at once, with what has to be read and written around it. */
  atOnce: 16,
  /** Of one network. Fewer than `passwordPair` has places: those of one process do not wait for each other there. */
  atOnceOfOneNetwork: 8,
  /** Compared or waiting, of one network. */
  ofOneNetwork: 32,
  /** Waiting in total: more than a thousand networks. Beyond it, the network with the most loses one. */
  waiting: 2048,
  /** Milliseconds. */
  patience: 10_000,
} as const

export type TurnPolicy = { readonly [Name in keyof typeof turnPolicy]: number }
