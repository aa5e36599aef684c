import type { GuessingPolicy, RatePolicy } from '@tollgate/oauth'

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * Limits for guessing passwords and codes, applied by `createGuessingLimits()`. Only failures
 * count. The strict limit applies per account and network. The limits per account and per network
 * do not apply to a network from which the account was used before (threat L2, threat N2).
 */
export const guesses = {
  /** Passwords, per account and network. */
  passwordPair: { max: 10, seconds: 15 * MINUTE, clears: true },
  /** Passwords, per account. */
  passwordAccount: { max: 100, seconds: HOUR },
  /** Passwords, per network. */
  passwordNetwork: { max: 100, seconds: HOUR },
  /** Passwords that a signed-in person confirms, per session. */
  passwordSession: { max: 10, seconds: 15 * MINUTE, clears: true },
  /** Codes of an authenticator app, per account. */
  secondFactor: { max: 10, seconds: 15 * MINUTE, clears: true },
  /**
   * Codes of an authenticator app, per account and day. A code has a million values, of which three
   * are accepted at a time, so guessing one takes 6,700 days on average.
   */
  secondFactorDay: { max: 50, seconds: 24 * HOUR },
  /**
   * Codes of an authenticator app, per account and network, instead of the limits per account if a
   * code of the account was right there before. Strangers who have the password cannot prevent the
   * owner from signing in (threat N2).
   */
  secondFactorPair: { max: 10, seconds: 15 * MINUTE, clears: true },
  /** Codes of an authenticator app, per account and network where a code was right, per day. */
  secondFactorPairDay: { max: 50, seconds: 24 * HOUR },
  /** Recovery codes, per account. They stay usable while the codes of an app are blocked. */
  recoveryCode: { max: 10, seconds: 15 * MINUTE, clears: true },
  /**
   * Declined cards, per account, so that stolen numbers cannot be tested here. The lease covers
   * slow providers.
   */
  cardsAccount: { max: 10, seconds: HOUR, leaseSeconds: 2 * MINUTE },
  /**
   * Declined cards, per network. Does not apply to an account whose card was accepted from there
   * before.
   */
  cardsNetwork: { max: 50, seconds: HOUR, leaseSeconds: 2 * MINUTE },
} as const satisfies Record<string, GuessingPolicy>

export type GuessName = keyof typeof guesses

/**
 * Limits for wrong client secrets, codes and tokens. These have 256 random bits, so they are
 * checked first, and only wrong ones are counted and rejected: failures never block a correct one.
 */
export const failures = {
  /** Wrong client secrets, per client and network. */
  clientPair: { points: 30, seconds: 10 * MINUTE },
  /** Wrong client secrets, per client. */
  clientAnywhere: { points: 1000, seconds: HOUR },
  /** Wrong codes and refresh tokens, per client and network. */
  grantPair: { points: 300, seconds: 10 * MINUTE },
  /** Wrong client secrets, codes and tokens, per network. */
  tokenNetwork: { points: 1000, seconds: 10 * MINUTE },
} as const satisfies Record<string, Omit<RatePolicy, 'name'>>

export type FailureName = keyof typeof failures

/**
 * Maximum number of counters kept for each limit in `failures`, however many client ids callers
 * make up.
 */
export const FAILURE_COUNTS = 65_536

/**
 * Limits for requests that consume resources without authentication, applied by
 * `createResourceLimits()`. Successful requests count, too.
 */
export const rates = {
  /** New accounts, per network. */
  registrations: { name: 'registrations of accounts', points: 20, seconds: HOUR },
  /** Requests for mail about an account, per network. */
  mailNetwork: { name: 'requests for mail', points: 20, seconds: HOUR },
  /** Mail that strangers cause, per address, from all networks together (threat N8). */
  mailAddress: { name: 'mail to addresses', points: 5, seconds: HOUR },
  /**
   * Mail to an address that a network asks for from which the account was used before, so that
   * strangers cannot prevent it.
   */
  mailKnownNetwork: { name: 'mail to known networks', points: 5, seconds: HOUR },
  /** Invitations to teams that are sent by mail, per inviting account (threat N8). */
  invitationsAccount: { name: 'invitations by mail', points: 50, seconds: 24 * HOUR },
  /**
   * Invitations to teams that are sent by mail, per address and from all accounts together. Apart
   * from `mailAddress`, so that invitations do not use up the mail about a forgotten password.
   */
  invitationsAddress: { name: 'invitations to addresses', points: 5, seconds: 24 * HOUR },
  /**
   * New passwords that forget the wrong codes of an account. An intruder in the owner's mailbox could
   * otherwise reset the password again and again, and guess codes without a limit.
   */
  forgivenCodes: { name: 'forgiven codes', points: 3, seconds: 24 * HOUR },
  /**
   * Failed sign-ins with other providers, per network. Each sends requests to the provider.
   */
  signInsWith: { name: 'sign-ins with other providers', points: 100, seconds: 10 * MINUTE },
  /**
   * Failed requests with a DPoP proof by clients without a secret, per network. Each proof writes a
   * row.
   */
  keyProofs: { name: 'DPoP proofs', points: 300, seconds: 10 * MINUTE },
  /** Refused sign-ins with a passkey only, per network. Each uses up a challenge, which is a row. */
  passkeySignIns: { name: 'sign-ins with a passkey', points: 100, seconds: 10 * MINUTE },
} as const satisfies Record<string, RatePolicy>

/** Limits of the queue for password checks in one process. */
export const queuePolicy = {
  /** Checks that run concurrently, including their database queries. */
  maxRunning: 16,
  /**
   * Concurrent checks per network. Fewer than `passwordPair` allows, so that checks in one process
   * do not exhaust that limit among themselves.
   */
  maxRunningPerNetwork: 8,
  /** Checks per network, running or queued. */
  maxPerNetwork: 32,
  /**
   * Queued checks in total, for more than a thousand networks. Beyond it, the network with the most
   * queued checks loses its newest.
   */
  maxQueued: 2048,
  /** Longest time in the queue, in milliseconds. */
  timeout: 10_000,
} as const

export type QueuePolicy = { readonly [Name in keyof typeof queuePolicy]: number }
