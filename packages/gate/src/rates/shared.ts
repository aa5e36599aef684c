import { MissingPackage } from '@tollgate/database'
import type { Logger } from '../context.ts'
import type { Rate } from '../plans/rule.ts'
import type { RateLimits } from './bucket.ts'

/** A connected client of `ioredis`, or of `redis` (node-redis). */
export type GateRedisClient = object

/** Rates that all processes share. */
export interface SharedRates extends RateLimits {
  /**
   * Loads the packages, and connects.
   * @throws MissingPackage if a package is not installed
   */
  start(): Promise<void>
  /** Closes a connection that was opened here. */
  close(): void
}

/** The part of `rate-limiter-flexible` that is used. */
interface Limiter {
  consume(key: string): Promise<unknown>
}
interface LimiterOptions {
  readonly storeClient: object
  readonly useRedisPackage: boolean
  readonly rejectIfRedisNotReady: boolean
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}
type LimiterClass = new (options: LimiterOptions) => Limiter

interface OwnClient {
  connect(): Promise<unknown>
  on(event: 'error', listener: (error: unknown) => void): void
  disconnect(): void
}

/** Longest time to wait for Redis, in milliseconds. */
const TIMEOUT = 500
/** Milliseconds for which Redis is not asked again after it did not answer. */
const AWAY = 1000

/**
 * Counts rates in Redis. While it does not answer, each process counts by itself, and asks again every
 * second.
 */
export function createSharedRates(
  redis: string | GateRedisClient,
  local: RateLimits,
  logger: Logger,
): SharedRates {
  const limiters = new Map<string, Limiter>()
  let Limiter: LimiterClass | null = null
  let client: object | null = null
  let own: OwnClient | null = null
  let awayUntil = 0
  let isAway = false

  function find(rate: Rate): Limiter | null {
    if (!Limiter || !client) return null
    const { amount, milliseconds } = rate
    const keyPrefix = `tollgate:rate:${amount}/${milliseconds}`
    const found = limiters.get(keyPrefix)
    if (found) return found
    const created = new Limiter({
      storeClient: client,
      useRedisPackage: isNodeRedis(client),
      rejectIfRedisNotReady: true,
      keyPrefix,
      points: amount,
      duration: milliseconds / 1000,
    })
    limiters.set(keyPrefix, created)
    return created
  }

  function noteAway(error: unknown): void {
    awayUntil = performance.now() + AWAY
    if (isAway) return
    isAway = true
    logger.warn('Redis does not answer: until it does, each process counts rates by itself', error)
  }

  async function ask(limiter: Limiter, subject: string): Promise<number> {
    try {
      await withTimeout(limiter.consume(subject))
      isAway = false
      return 0
    } catch (refused) {
      const wait = (refused as { msBeforeNext?: unknown } | null)?.msBeforeNext
      if (typeof wait !== 'number') throw refused
      isAway = false
      return Math.max(1, wait)
    }
  }

  return {
    async start() {
      const loaded = await load<{ RateLimiterRedis: LimiterClass }>('rate-limiter-flexible')
      if (typeof redis === 'string') {
        const { default: Redis } = await load<{
          default: new (url: string, options: object) => OwnClient
        }>('ioredis')
        // Without a queue, a command fails at once while there is no connection.
        own = new Redis(redis, {
          lazyConnect: true,
          enableOfflineQueue: false,
          maxRetriesPerRequest: 0,
        })
        // A connection that fails is tried again, and reported by the command that needs it.
        own.on('error', () => {})
        await withTimeout(own.connect()).catch(() => {})
        client = own
      } else {
        client = redis
      }
      Limiter = loaded.RateLimiterRedis
    },
    take(subject, rate) {
      const limiter = performance.now() < awayUntil ? null : find(rate)
      if (!limiter) return local.take(subject, rate)
      return ask(limiter, subject).catch((error) => {
        noteAway(error)
        return local.take(subject, rate)
      })
    },
    close: () => own?.disconnect(),
  }
}

/** A client of `redis`, which takes commands as `sendCommand([...])`. */
const isNodeRedis = (client: object): boolean => 'isOpen' in client && 'sendCommand' in client

async function withTimeout<R>(work: Promise<R>): Promise<R> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${TIMEOUT} ms`)), TIMEOUT)
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}

/** Imports a package only if the option needs it: the name is a variable, so no bundler follows it. */
async function load<Module>(name: string): Promise<Module> {
  try {
    return (await import(name)) as Module
  } catch (cause) {
    throw new MissingPackage(name, 'The option redis of the gate', { cause })
  }
}
