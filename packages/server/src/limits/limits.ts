import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { createKnownNetworks } from './known-networks.ts'
import { PASSWORDS_AT_ONCE, type PolicyName, policies } from './policies.ts'
import { createCounterStore, DatabaseRateLimiter } from './store.ts'

/** Too many failures, or too much at once. Answered with 429 and `Retry-After`. */
export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequests'
  readonly retryAfterSeconds: number

  constructor(milliseconds: number) {
    super('Too many attempts; try again later')
    this.retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000))
  }
}

/** What came of one try. `unseen`: the password was not compared, so that nothing is counted. */
export type Verdict = 'right' | 'wrong' | 'unseen'

/** Somebody who signs in, or somebody signed in who proves that it is really them. */
export type PasswordBy =
  | { readonly account: string; readonly network: string }
  | { readonly sessionId: string; readonly network: string }

/** What people and programs that have proven nothing may make rows of. */
export type StrangersPolicy = 'deviceCodes' | 'pushedRequests' | 'clientRegistrations'

export interface Limits {
  /**
   * Looks at a password, if there is room for one more try. It is counted before, so that tries made
   * at once cannot overtake the count, and given back when it turns out right or was never compared.
   */
  tryPassword<T>(by: PasswordBy, look: () => Promise<T>, judge: (found: T) => Verdict): Promise<T>
  /** Before a card goes to the provider; a declined one counts, and so does one that ends in an error. */
  attemptCard(userId: string, network: string): Promise<CardAttempt>
  countRegistration(network: string): Promise<void>
  /** Before a row is made for somebody who has proven nothing. Throws when there were too many. */
  countStranger(what: StrangersPolicy, network: string): Promise<void>
  /**
   * Before a DPoP proof of a client without a secret is looked at, which makes a row whatever comes of it. Throws
   * when too many led to nothing; what it gives takes the count back.
   */
  countProof(clientId: string, network: string): Promise<() => Promise<unknown>>
  /** This account was used from here with success. */
  rememberNetwork(account: string, network: string): Promise<void>
  /**
   * After a client secret, code or token was wrong. Right ones are never counted nor refused: they have
   * 256 random bits, so that nobody's failures need stop them. Throws when there were too many.
   */
  countWrong(what: 'secret' | 'grant', clientId: string, network: string): Promise<void>
  purge(): Promise<number>
}

/** One try of a card. It counts as declined until it is known not to be. */
export interface CardAttempt {
  /** The provider took it. */
  accepted(): Promise<void>
  /** It never got to the provider's verdict. */
  withdrawn(): Promise<void>
}

const REFUSALS_KEPT = 10_000

export function createLimits(database: Database, clock: Clock): Limits {
  const store = createCounterStore(database, clock)
  const known = createKnownNetworks(database, clock)
  const refusals = createRefusals(store.now)
  const open = createOpenTries(PASSWORDS_AT_ONCE)
  const limiters = new Map(
    Object.entries(policies).map(([name, policy]) => [
      name,
      new DatabaseRateLimiter(store, { name, ...policy }),
    ]),
  )
  const limiter = (name: PolicyName): DatabaseRateLimiter => {
    const found = limiters.get(name)
    if (!found) throw new Error(`There is no policy ${name}`)
    return found
  }

  /** Throws while there is no room; counts nothing. */
  async function requireRoom(name: PolicyName, key: string): Promise<void> {
    const state = await limiter(name).get(key)
    if (state && state.consumedPoints >= policies[name].points) {
      throw new TooManyRequests(state.msBeforeNext)
    }
  }

  /** How long until there is room again; 0 when there was some. */
  async function count(name: PolicyName, key: string): Promise<number> {
    try {
      await limiter(name).consume(key)
      return 0
    } catch (refused) {
      if (refused instanceof Error) throw refused
      return Math.max(1, (refused as { msBeforeNext: number }).msBeforeNext)
    }
  }

  async function consume(name: PolicyName, key: string): Promise<void> {
    const wait = await count(name, key)
    if (wait > 0) throw new TooManyRequests(wait)
  }

  /** Counts the try and says how to settle it. */
  async function beginPassword(by: PasswordBy): Promise<(verdict: Verdict) => Promise<void>> {
    if ('sessionId' in by) {
      // Strangers cannot get here, so that they cannot keep anybody from changing a password.
      await consume('passwordSession', by.sessionId)
      return async (verdict) => {
        if (verdict === 'right') await limiter('passwordSession').delete(by.sessionId)
        if (verdict === 'unseen') await limiter('passwordSession').reward(by.sessionId)
      }
    }
    const { network } = by
    const account = digest(by.account)
    const both = `${account}@${network}`
    if (!(await known.isKnown(account, network))) {
      await requireRoom('passwordAccount', account)
      await requireRoom('passwordNetwork', network)
    }
    await consume('passwordPair', both)
    return async (verdict) => {
      if (verdict === 'unseen') await limiter('passwordPair').reward(both)
      if (verdict === 'right') {
        await limiter('passwordPair').delete(both)
        await known.remember(account, network)
      }
      if (verdict === 'wrong') {
        await limiter('passwordAccount').penalty(account)
        await limiter('passwordNetwork').penalty(network)
      }
    }
  }

  return {
    async tryPassword(by, look, judge) {
      const leave = open.enter(by.network)
      try {
        const settle = await beginPassword(by)
        const found = await look().catch(async (error) => {
          await settle('unseen')
          throw error
        })
        await settle(judge(found))
        return found
      } finally {
        leave()
      }
    },
    async attemptCard(userId, network) {
      // Others behind the same address must not keep somebody from paying who has paid from here.
      const account = digest(`card of ${userId}`)
      const policiesHere: Array<[PolicyName, string]> = [['cardsAccount', userId]]
      if (!(await known.isKnown(account, network))) policiesHere.push(['cardsNetwork', network])
      for (const [name, key] of policiesHere) await consume(name, key)
      const withdrawn = async () => {
        for (const [name, key] of policiesHere) await limiter(name).reward(key)
      }
      return {
        withdrawn,
        async accepted() {
          await withdrawn()
          await known.remember(account, network)
        },
      }
    },
    countRegistration: (network) => consume('registrations', network),
    countStranger: consume,
    async countProof(clientId, network) {
      const both = `${digest(clientId)}@${network}`
      await consume('keyProofs', both)
      return () => limiter('keyProofs').reward(both)
    },
    rememberNetwork: (account, network) => known.remember(digest(account), network),
    async countWrong(what, clientId, network) {
      const client = digest(clientId)
      const both = `${client}@${network}`
      const counted: Array<[PolicyName, string]> =
        what === 'secret'
          ? [
              ['clientPair', both],
              ['clientAnywhere', client],
            ]
          : [['grantPair', both]]
      counted.push(['tokenNetwork', network])
      const waits = counted.map(async ([name, key]) => {
        const wait = refusals.find(`${name}:${key}`) || (await count(name, key))
        if (wait > 0) refusals.note(`${name}:${key}`, wait)
        return wait
      })
      const longest = Math.max(...(await Promise.all(waits)))
      if (longest > 0) throw new TooManyRequests(longest)
    },
    purge: async () => (await store.purge()) + (await known.purge()),
  }
}

/** Names come from strangers, so that they are stored at one length. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 32)
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

/** Hashing takes turns: one network gets only some of the places, so that others still find one. */
function createOpenTries(most: number) {
  const open = new Map<string, number>()
  return {
    enter(network: string): () => void {
      const before = open.get(network) ?? 0
      if (before >= most) throw new TooManyRequests(1000)
      open.set(network, before + 1)
      return () => {
        const left = (open.get(network) ?? 1) - 1
        if (left > 0) open.set(network, left)
        else open.delete(network)
      }
    },
  }
}
