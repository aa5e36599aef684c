import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { KNOWN_NETWORK_SECONDS, type PolicyName, policies } from './policies.ts'
import { type CounterStore, createCounterStore, DatabaseRateLimiter } from './store.ts'

/** Too many failures, or too much at once. Answered with 429 and `Retry-After`. */
export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequests'
  readonly retryAfterSeconds: number

  constructor(milliseconds: number) {
    super('Too many attempts; try again later')
    this.retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000))
  }
}

/** One try of a password. It counts as a failure until it is known to be none. */
export interface PasswordAttempt {
  succeeded(): Promise<void>
  failed(): Promise<void>
  /** The password was not looked at. */
  withdrawn(): Promise<void>
}

/** One try of a card. It counts as declined until it is known not to be. */
export interface CardAttempt {
  accepted(): Promise<void>
}

export interface Limits {
  /** Before a password is looked at, so that tries made at once cannot overtake the count. */
  attemptPassword(account: string, network: string): Promise<PasswordAttempt>
  /** Before a card goes to the provider. */
  attemptCard(userId: string, network: string): Promise<CardAttempt>
  countRegistration(network: string): Promise<void>
  /** Refuses a client that has failed too often. Costs at most one look a second for each pair. */
  checkClient(clientId: string, network: string): Promise<void>
  clientFailed(what: 'secret' | 'grant', clientId: string, network: string): Promise<void>
  clientSucceeded(clientId: string, network: string): Promise<void>
  purge(): Promise<number>
}

const LOOKS_LAST = 1000
const LOOKS_KEPT = 10_000

export function createLimits(database: Database, clock: Clock): Limits {
  const store = createCounterStore(database, clock)
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

  /** How long until there is room again; 0 while there is. */
  async function waitFor(name: PolicyName, key: string): Promise<number> {
    const state = await limiter(name).get(key)
    return state && state.consumedPoints >= policies[name].points ? state.msBeforeNext : 0
  }

  async function consume(name: PolicyName, key: string): Promise<void> {
    try {
      await limiter(name).consume(key)
    } catch (refused) {
      if (refused instanceof Error) throw refused
      throw new TooManyRequests((refused as { msBeforeNext: number }).msBeforeNext)
    }
  }

  const looks = createRecentLooks(store, async (clientId, network) => {
    const [secrets, ...waits] = await Promise.all([
      limiter('clientPair').get(pair(clientId, network)),
      waitFor('clientPair', pair(clientId, network)),
      waitFor('clientAnywhere', digest(clientId)),
      waitFor('grantPair', pair(clientId, network)),
      waitFor('tokenNetwork', network),
    ])
    return { wait: Math.max(...waits), failures: secrets !== null }
  })

  return {
    async attemptPassword(account, network) {
      const both = pair(account, network)
      const alone = digest(account)
      const known = `known:${both}`
      const isKnown = (await store.get(known)) !== null
      if (!isKnown) {
        const wait = Math.max(
          await waitFor('passwordAccount', alone),
          await waitFor('passwordNetwork', network),
        )
        if (wait > 0) throw new TooManyRequests(wait)
      }
      await consume('passwordPair', both)
      return {
        async succeeded() {
          await limiter('passwordPair').delete(both)
          if (!isKnown) await store.set(known, 1, KNOWN_NETWORK_SECONDS * 1000)
        },
        async failed() {
          await limiter('passwordAccount').penalty(alone)
          await limiter('passwordNetwork').penalty(network)
        },
        async withdrawn() {
          await limiter('passwordPair').reward(both)
        },
      }
    },
    async attemptCard(userId, network) {
      await consume('cardsAccount', userId)
      await consume('cardsNetwork', network)
      return {
        async accepted() {
          await limiter('cardsAccount').reward(userId)
          await limiter('cardsNetwork').reward(network)
        },
      }
    },
    countRegistration: (network) => consume('registrations', network),
    async checkClient(clientId, network) {
      const wait = await looks.find(clientId, network)
      if (wait > 0) throw new TooManyRequests(wait)
    },
    async clientFailed(what, clientId, network) {
      const key = pair(clientId, network)
      if (what === 'secret') {
        await limiter('clientPair').penalty(key)
        await limiter('clientAnywhere').penalty(digest(clientId))
      } else {
        await limiter('grantPair').penalty(key)
      }
      await limiter('tokenNetwork').penalty(network)
      looks.noteFailure(clientId, network)
    },
    async clientSucceeded(clientId, network) {
      if (!looks.hadFailures(clientId, network)) return
      await limiter('clientPair').delete(pair(clientId, network))
      looks.forget(clientId, network)
    },
    purge: () => store.purge(),
  }
}

/** Names come from strangers, so that they are stored at one length. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 32)
}

function pair(name: string, network: string): string {
  return `${digest(name)}@${network}`
}

interface Look {
  wait: number
  at: number
  failures: boolean
}

/** What was seen of a pair in the last second, so that a busy client does not ask each time. */
function createRecentLooks(
  store: CounterStore,
  look: (clientId: string, network: string) => Promise<Omit<Look, 'at'>>,
) {
  const seen = new Map<string, Look>()
  const entry = (clientId: string, network: string): Look => {
    const key = pair(clientId, network)
    const found = seen.get(key)
    if (found) return found
    // A map keeps the order of insertion: the first is the oldest.
    const oldest = seen.size >= LOOKS_KEPT ? seen.keys().next().value : undefined
    if (oldest !== undefined) seen.delete(oldest)
    const fresh = { wait: 0, at: Number.NEGATIVE_INFINITY, failures: false }
    seen.set(key, fresh)
    return fresh
  }
  return {
    async find(clientId: string, network: string): Promise<number> {
      const known = entry(clientId, network)
      const now = store.now()
      if (Math.abs(now - known.at) > LOOKS_LAST) {
        Object.assign(known, await look(clientId, network), { at: now })
      }
      return known.wait
    },
    noteFailure(clientId: string, network: string): void {
      const known = entry(clientId, network)
      known.failures = true
      known.at = Number.NEGATIVE_INFINITY
    },
    hadFailures: (clientId: string, network: string) => entry(clientId, network).failures,
    forget: (clientId: string, network: string) => void seen.delete(pair(clientId, network)),
  }
}
