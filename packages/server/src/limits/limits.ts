import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import {
  type Clock,
  createGuessingLimits,
  createResourceLimits,
  type GuessingLimit,
  type GuessingTimes,
  kyselyStorage,
  type Logger,
  TooManyRequests,
  type Verdict,
} from '@tollgate/oauth'
import { createKnownNetworks } from './known-networks.ts'
import {
  FAILURE_COUNTS,
  type FailureName,
  failures,
  type GuessName,
  guesses,
  rates,
  turnPolicy,
} from './policies.ts'
import { createTurns } from './turns.ts'

/** Somebody who signs in, or somebody signed in who proves that it is really them. */
export type PasswordBy =
  | { readonly account: string; readonly network: string }
  | { readonly sessionId: string; readonly network: string }

export interface Limits {
  /** Looks at a password by the rule for guesses, when it is this network's turn. */
  tryPassword<T>(by: PasswordBy, look: () => Promise<T>, judge: (found: T) => Verdict): Promise<T>
  /** Before a card goes to the provider. */
  attemptCard(userId: string, network: string): Promise<CardAttempt>
  /** Makes an account, if this network has not made too many, when it is its turn. */
  register<T>(network: string, make: () => Promise<T>): Promise<T>
  /**
   * Before a DPoP proof of a client without a secret is looked at, which makes a row whatever comes of it. Throws
   * when too many led to nothing; what it gives takes the count back.
   */
  countProof(network: string): Promise<() => Promise<void>>
  /** This account was used from here with success. */
  rememberNetwork(account: string, network: string): Promise<void>
  /** After a client secret, code or token was wrong. Throws when there were too many; right ones are never counted. */
  countWrong(what: 'secret' | 'grant', clientId: string, network: string): Promise<void>
  purge(): Promise<number>
}

/** One try of a card. Exactly one of these says how it went. */
export interface CardAttempt {
  /** The provider took it. */
  accepted(): Promise<void>
  /** The provider declined it. */
  declined(): Promise<void>
  /** It never got to the provider's verdict. */
  withdrawn(): Promise<void>
}

const REFUSALS_KEPT = 10_000

export interface LimitsOptions extends GuessingTimes {
  /** Default: `console`. */
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
  const turns = createTurns(turnPolicy)
  const now = () => clock.now().getTime()
  const refusals = createRefusals(now)

  /** The strict one alone where the account was used from this network before. */
  async function limitsOf(by: PasswordBy): Promise<readonly GuessingLimit[]> {
    // Strangers cannot get here, so that they cannot keep anybody from changing a password.
    if ('sessionId' in by) return [limit('passwordSession', by.sessionId)]
    const account = digest(by.account)
    const pair = limit('passwordPair', `${account}@${by.network}`)
    if (await known.isKnown(account, by.network)) return [pair]
    return [pair, limit('passwordAccount', account), limit('passwordNetwork', by.network)]
  }

  /** How long until there is room again; 0 when there was some. */
  async function countFailure(name: FailureName, key: string): Promise<number> {
    // What is wrong may share a count: nothing right is refused by it, and made-up names fill no table.
    const counted = `${name}:${bucketOf(key)}`
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

  return {
    async tryPassword(by, look, judge) {
      const applied = await limitsOf(by)
      const isKnown = applied.length === 1
      return turns.pass({ network: by.network, isKnown }, async () => {
        let verdict: Verdict = 'unseen'
        const found = await guessing.check(applied, look, (seen) => {
          verdict = judge(seen)
          return verdict
        })
        if ((verdict as Verdict) === 'right' && 'account' in by) {
          await known.remember(digest(by.account), by.network)
        }
        return found
      })
    },
    async attemptCard(userId, network) {
      // Others behind the same address must not keep somebody from paying who has paid from here.
      const account = digest(`card of ${userId}`)
      const ofNetwork = (await known.isKnown(account, network))
        ? []
        : [limit('cardsNetwork', network)]
      const attempt = await guessing.begin([limit('cardsAccount', userId), ...ofNetwork])
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
      return turns.pass({ network, isKnown: false }, make)
    },
    countProof: (network) => resources.count(rates.keyProofs, network),
    rememberNetwork: (account, network) => known.remember(digest(account), network),
    async countWrong(what, clientId, network) {
      // A network that has failed too often leaves no more counts behind.
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

function limit(name: GuessName, key: string): GuessingLimit {
  return { ...guesses[name], name: `${name}:${key}` }
}

function tooMany(milliseconds: number): TooManyRequests {
  return new TooManyRequests('Too many attempts; try again later', { milliseconds })
}

/** Names come from strangers, so that they are stored at one length. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 32)
}

function bucketOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() % FAILURE_COUNTS
}

/** What is full stays full for a while: then a flood of wrong secrets costs no more writes. */
function createRefusals(now: () => number) {
  const until = new Map<string, number>()
  return {
    find: (key: string) => Math.max(0, (until.get(key) ?? 0) - now()),
    note(key: string, wait: number): void {
      // A map keeps the order of insertion: the first is the oldest.
      const oldest = until.size >= REFUSALS_KEPT ? until.keys().next().value : undefined
      if (oldest !== undefined) until.delete(oldest)
      until.set(key, now() + wait)
    },
  }
}
