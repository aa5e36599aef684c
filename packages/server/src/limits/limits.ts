import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import {
  type Clock,
  createGuessingLimits,
  createResourceLimits,
  type GuessingLimit,
  type GuessingWaitLimits,
  type GuessVerdict,
  kyselyStorage,
  type Logger,
  type RatePolicy,
  TooManyRequests,
} from '@tollgate/oauth'
import { cardAccountName, factorAccountName, hashAccountName } from '../storage/account-names.ts'
import { createFairQueue, type QueuedCaller } from './fair-queue.ts'
import { createKnownNetworks } from './known-networks.ts'
import {
  FAILURE_COUNTS,
  type FailureName,
  failures,
  type GuessName,
  guesses,
  queuePolicy,
  rates,
} from './policies.ts'

/**
 * The person whose password is checked: identified by the account when signing in, or by the
 * session when a signed-in person confirms the password.
 */
export type PasswordCheckSource =
  | { readonly account: string; readonly network: string }
  | { readonly sessionId: string; readonly network: string }

export interface Limits {
  /**
   * Checks a password with `look` as soon as it is the network's turn. `judge` decides from the
   * result whether the attempt counts as a wrong password.
   * @throws TooManyRequests after too many wrong passwords.
   */
  tryPassword<T>(
    by: PasswordCheckSource,
    look: () => Promise<T>,
    judge: (found: T) => GuessVerdict,
  ): Promise<T>
  /**
   * Runs work that hashes a new password as soon as it is the network's turn.
   * @throws TooManyRequests if too much work of the network is waiting.
   */
  takeTurn<T>(caller: QueuedCaller, work: () => Promise<T>): Promise<T>
  /**
   * Checks a code of a second factor with `look`, which returns whether it is right.
   * @throws TooManyRequests after too many wrong codes for this account.
   */
  tryCode(
    kind: 'app' | 'recovery',
    by: { readonly userId: string; readonly network: string },
    look: () => Promise<boolean>,
  ): Promise<boolean>
  /**
   * Forgets the wrong codes of an account that has a new password: a thief of the old one may have
   * typed them. At most three times a day.
   */
  forgiveCodes(userId: string): Promise<void>
  /**
   * Starts an attempt to use a card, before it is sent to the provider.
   * @throws TooManyRequests after too many declined cards.
   */
  attemptCard(userId: string, network: string): Promise<CardAttempt>
  /**
   * Creates an account with `make` as soon as it is the network's turn.
   * @throws TooManyRequests if the network has created too many accounts.
   */
  register<T>(network: string, make: () => Promise<T>): Promise<T>
  /**
   * Counts a DPoP proof of a client without a secret before the proof is checked, because each
   * check writes a row. Returns a function that undoes the count.
   * @throws TooManyRequests after too many proofs that led to no token.
   */
  countProof(network: string): Promise<() => Promise<void>>
  /**
   * Counts a request for mail to an address. Returns whether the mail may be sent; the response
   * must not depend on it.
   * @throws TooManyRequests after too many requests of the network.
   */
  countMail(address: string, network: string): Promise<boolean>
  /**
   * Counts an invitation to a team. Returns whether it may be sent by mail. Otherwise the person
   * can still pass on its link.
   */
  countInvitation(address: string, userId: string): Promise<boolean>
  /**
   * Counts a sign-in with a passkey only, before the passkey is verified. Returns a function that
   * undoes the count.
   * @throws TooManyRequests after too many refused ones.
   */
  countPasskey(network: string): Promise<() => Promise<void>>
  /**
   * Counts a sign-in with another provider before the provider is asked. Returns a function that
   * undoes the count.
   * @throws TooManyRequests after too many that failed.
   */
  countSignInWith(network: string): Promise<() => Promise<void>>
  /** Remembers that the account was used successfully from this network. */
  rememberNetwork(account: string, network: string): Promise<void>
  /**
   * Counts a wrong client secret, code or token. Correct ones are never counted.
   * @throws TooManyRequests after too many.
   */
  countWrong(what: 'secret' | 'grant', clientId: string, network: string): Promise<void>
  purge(): Promise<number>
}

/** An attempt to use a card. Exactly one of its methods must be called, to record the outcome. */
export interface CardAttempt {
  /** Records that the provider accepted the card. */
  accepted(): Promise<void>
  /** Records that the provider declined the card. */
  declined(): Promise<void>
  /** Records that the card was not checked, for example because of an outage. */
  withdrawn(): Promise<void>
}

const MAX_REFUSALS = 10_000

export interface LimitsOptions extends GuessingWaitLimits {
  /**
   * Receives a warning when a limit is reached.
   * @default console
   */
  readonly logger?: Logger
}

export function createLimits(
  database: Database,
  clock: Clock,
  { logger = console, ...times }: LimitsOptions = {},
): Limits {
  const { limits: counts, tickets } = kyselyStorage(database)
  const known = createKnownNetworks(database, clock)
  const guessing = createGuessingLimits({ limits: counts, clock }, times)
  const resources = createResourceLimits({ limits: counts, tickets, clock, logger })
  const hashing = createFairQueue(queuePolicy)
  const now = () => clock.now().getTime()
  const refusals = createRefusals(now)

  /**
   * The limits for an attempt: only the strict one if the account was used from this network
   * before.
   */
  async function limitsOf(by: PasswordCheckSource): Promise<readonly GuessingLimit[]> {
    // The attempt needs a session, so strangers cannot use up this limit to prevent a change of
    // password.
    if ('sessionId' in by) return [createGuessLimit('passwordSession', by.sessionId)]
    const account = hashAccountName(by.account)
    const pair = createGuessLimit('passwordPair', `${account}@${by.network}`)
    if (await known.isKnown(account, by.network)) return [pair]
    return [
      pair,
      createGuessLimit('passwordAccount', account),
      createGuessLimit('passwordNetwork', by.network),
    ]
  }

  /**
   * Counts a failure. Returns the milliseconds until the next failure is allowed, 0 if this one was
   * within the limit.
   */
  async function countFailure(name: FailureName, key: string): Promise<number> {
    // Failures may share a counter: no correct value is rejected by it, and made-up names cannot
    // fill the table.
    const counted = `${name}:${toCounterBucket(key)}`
    const before = refusals.find(counted)
    if (before > 0) return before
    const at = clock.now()
    const until = new Date(at.getTime() + failures[name].seconds * 1000)
    const { points, expiresAt } = await counts.count(counted, at, until)
    if (points <= failures[name].points) return 0
    const wait = Math.max(1, expiresAt.getTime() - at.getTime())
    refusals.note(counted, wait)
    return wait
  }

  /** Counts a request. Returns whether it is within the limit. */
  async function isWithin(rate: RatePolicy, counted: string): Promise<boolean> {
    try {
      await resources.count(rate, counted)
      return true
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error
      return false
    }
  }

  return {
    async tryPassword(by, look, judge) {
      const applied = await limitsOf(by)
      const isKnown = applied.length === 1
      return hashing.run({ network: by.network, isKnown }, async () => {
        let verdict: GuessVerdict = 'unseen'
        const found = await guessing.check(applied, look, (seen) => {
          verdict = judge(seen)
          return verdict
        })
        if ((verdict as GuessVerdict) === 'right' && 'account' in by) {
          await known.remember(hashAccountName(by.account), by.network)
        }
        return found
      })
    },
    takeTurn: hashing.run,
    async tryCode(kind, { userId, network }, look) {
      const judge = (isRight: boolean) => (isRight ? 'right' : 'wrong')
      if (kind === 'recovery') {
        return guessing.check([createGuessLimit('recoveryCode', userId)], look, judge)
      }
      // Only a right code makes a network known here, because the password may be stolen.
      const account = hashAccountName(factorAccountName(userId))
      const pair = `${account}@${network}`
      const applied = (await known.isKnown(account, network))
        ? [
            createGuessLimit('secondFactorPair', pair),
            createGuessLimit('secondFactorPairDay', pair),
          ]
        : [createGuessLimit('secondFactor', userId), createGuessLimit('secondFactorDay', userId)]
      const isRight = await guessing.check(applied, look, judge)
      if (isRight) await known.remember(account, network)
      return isRight
    },
    async forgiveCodes(userId) {
      try {
        await resources.count(rates.forgivenCodes, userId)
      } catch (error) {
        if (error instanceof TooManyRequests) return
        throw error
      }
      for (const name of ['secondFactor', 'secondFactorDay', 'recoveryCode'] as const) {
        const limit = createGuessLimit(name, userId)
        await counts.clear(limit.name, limit.max)
      }
    },
    async attemptCard(userId, network) {
      // Other people behind the same address must not prevent a person who has paid from here from
      // paying.
      const account = hashAccountName(cardAccountName(userId))
      const ofNetwork = (await known.isKnown(account, network))
        ? []
        : [createGuessLimit('cardsNetwork', network)]
      const attempt = await guessing.begin([createGuessLimit('cardsAccount', userId), ...ofNetwork])
      return {
        withdrawn: () => attempt.finish('unseen'),
        declined: () => attempt.finish('wrong'),
        async accepted() {
          await attempt.finish('right')
          await known.remember(account, network)
        },
      }
    },
    async register(network, make) {
      await resources.count(rates.registrations, network)
      return hashing.run({ network, isKnown: false }, make)
    },
    countProof: (network) => resources.count(rates.keyProofs, network),
    async countMail(address, network) {
      await resources.count(rates.mailNetwork, network)
      const account = hashAccountName(address)
      const isKnown = await known.isKnown(account, network)
      return isKnown
        ? isWithin(rates.mailKnownNetwork, `${account}@${network}`)
        : isWithin(rates.mailAddress, hashMailbox(address))
    },
    countInvitation: async (address, userId) =>
      (await isWithin(rates.invitationsAccount, userId)) &&
      isWithin(rates.invitationsAddress, hashMailbox(address)),
    countPasskey: (network) => resources.count(rates.passkeySignIns, network),
    countSignInWith: (network) => resources.count(rates.signInsWith, network),
    rememberNetwork: (account, network) => known.remember(hashAccountName(account), network),
    async countWrong(what, clientId, network) {
      // A network over its limit creates no further counters.
      const ofNetwork = await countFailure('tokenNetwork', network)
      if (ofNetwork > 0) throw tooMany(ofNetwork)
      const pair = `${clientId}@${network}`
      const waits =
        what === 'secret'
          ? [countFailure('clientPair', pair), countFailure('clientAnywhere', clientId)]
          : [countFailure('grantPair', pair)]
      const longest = Math.max(...(await Promise.all(waits)))
      if (longest > 0) throw tooMany(longest)
    },
    purge: () => known.purge(),
  }
}

/** Without the part after a plus sign, with which one mailbox has any number of addresses. */
function hashMailbox(address: string): string {
  return hashAccountName(address.replace(/\+[^@]*(?=@)/, ''))
}

function createGuessLimit(name: GuessName, key: string): GuessingLimit {
  return { ...guesses[name], name: `${name}:${key}` }
}

function tooMany(milliseconds: number): TooManyRequests {
  return new TooManyRequests('Too many attempts; try again later', { milliseconds })
}

/** Callers choose these names, so they are stored with a fixed length. */
function toCounterBucket(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() % FAILURE_COUNTS
}

/**
 * Remembers exceeded limits in memory, so that a flood of wrong secrets causes no further writes.
 */
function createRefusals(now: () => number) {
  const until = new Map<string, number>()
  return {
    find: (key: string) => Math.max(0, (until.get(key) ?? 0) - now()),
    note(key: string, wait: number): void {
      // A Map keeps insertion order: the first key is the oldest.
      const oldest = until.size >= MAX_REFUSALS ? until.keys().next().value : undefined
      if (oldest !== undefined) until.delete(oldest)
      until.set(key, now() + wait)
    },
  }
}
