import type { Clock } from '../clock.ts'
import { TooManyRequests } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { HolderTicketCount, Ticket } from '../storage/records.ts'
import type { LimitRepository, TicketRepository } from '../storage/repositories.ts'

/**
 * Smallest allowed ratio between the limit for all networks together and the limit for one network.
 */
export const MIN_TOTAL_TO_NETWORK_RATIO = 1000

/** How often one network may send a costly request. */
export interface RatePolicy {
  /** Name of the counter. */
  readonly name: string
  /** Maximum number of requests per period. */
  readonly points: number
  /** Length of the period in seconds. */
  readonly seconds: number
}

/**
 * How many unused tickets of one kind may be stored: per network and in total. A ticket is a
 * short-lived record, such as a pushed request.
 */
export interface TicketQuota {
  /** Maximum number of unused tickets per network. */
  readonly ofOneNetwork: number
  /**
   * Maximum number of unused tickets in total, at least `MIN_TOTAL_TO_NETWORK_RATIO` times
   * `ofOneNetwork`. `null` for no limit.
   */
  readonly total: number | null
}

/**
 * Limits for requests of unauthenticated callers, and for the data that these requests store. Rates
 * are counted per network, and requests above the rate are rejected for a short time. Stored
 * tickets are limited per network and in total: above the first limit, the network loses its own
 * oldest unused ticket; above the second, the largest holder does. Tickets that were approved or
 * used are never evicted. If the network is unknown, only the total limits apply.
 */
export interface ResourceLimits {
  /**
   * Counts a request of a network. Returns a function that undoes the count.
   * @throws TooManyRequests if the network has exceeded the rate
   */
  count(rate: RatePolicy, network: string | null): Promise<() => Promise<void>>
  /**
   * Stores an unused ticket and evicts others if necessary. Returns `false` if its hash is taken.
   * `holder` is a network or an authenticated client, and `null` if the network is unknown.
   */
  add(ticket: Omit<Ticket, 'holder'>, share: TicketQuota, holder: string | null): Promise<boolean>
  /**
   * Deletes unused tickets of a kind above the limit `total` and returns how many. `add()` does
   * this from time to time in the background.
   */
  trim(kind: string, total: number): Promise<number>
}

/** Holder of everything from unknown networks. */
const UNKNOWN_NETWORK = 'unknown'
/** Number of largest holders to read at once. */
const HOLDER_BATCH_SIZE = 100
const EVICTION_BATCH_SIZE = 500
/**
 * Trims each time one hundredth of the limit was added, because counting costs more than adding.
 */
const TRIMMED_IN_PARTS = 100
/** Prefix of all rate counters. */
const RATE_PREFIX = 'rate:'
/**
 * Maximum number of rate counters. Above it, the counters that expire first are deleted, which
 * never causes a request to be rejected.
 */
const MAX_COUNTERS = 1_000_000

/**
 * Creates the limits for unauthenticated callers, with counts in a store that all processes share.
 */
export function createResourceLimits({
  tickets,
  limits,
  clock,
  logger,
}: {
  readonly tickets: TicketRepository
  readonly limits: LimitRepository
  readonly clock: Clock
  readonly logger: Logger
}): ResourceLimits {
  const sinceTrim = new Map<string, number>()
  const trimming = new Set<string>()

  /**
   * Whether to trim: before the first ticket of this process, and each time a hundredth of the
   * limit was added.
   */
  function isTimeToTrim(kind: string, total: number): boolean {
    const added = (sinceTrim.get(kind) ?? total) + 1
    const isTime = added >= total / TRIMMED_IN_PARTS && !trimming.has(kind)
    sinceTrim.set(kind, isTime ? 0 : added)
    return isTime
  }

  async function trim(kind: string, total: number): Promise<number> {
    let evicted = 0
    for (;;) {
      const surplus = (await tickets.countAllHeld(kind)) - total
      if (surplus <= 0) return evicted
      const holders = await tickets.listHolders(kind, HOLDER_BATCH_SIZE)
      const before = evicted
      const isAll = holders.length < HOLDER_BATCH_SIZE
      for (const { holder, count } of planEvictions(holders, surplus, isAll)) {
        evicted += await tickets.evict(kind, holder, Math.min(count, EVICTION_BATCH_SIZE))
      }
      if (evicted === before) return evicted
    }
  }

  async function trimCounts(): Promise<void> {
    while ((await limits.forget(RATE_PREFIX, MAX_COUNTERS, EVICTION_BATCH_SIZE)) > 0);
  }

  /** Trims in the background, at most once at a time per kind. */
  function trimInBackground(kind: string, total: number, work: () => Promise<unknown>): void {
    if (!isTimeToTrim(kind, total)) return
    trimming.add(kind)
    work()
      .catch((error) =>
        logger.error(
          `Entries beyond the limit (${kind}) could not be deleted; this will be retried`,
          error,
        ),
      )
      .finally(() => trimming.delete(kind))
  }

  return {
    async count({ name, points, seconds }, network) {
      const at = clock.now()
      const counted = `${RATE_PREFIX}${name}:${network ?? UNKNOWN_NETWORK}`
      const until = new Date(at.getTime() + seconds * 1000)
      const count = await limits.count(counted, at, until)
      if (count.points === 1) trimInBackground(RATE_PREFIX, MAX_COUNTERS, trimCounts)
      const most = network === null ? points * MIN_TOTAL_TO_NETWORK_RATIO : points
      if (count.points > most) {
        const milliseconds = count.expiresAt.getTime() - at.getTime()
        throw new TooManyRequests('Too many requests; try again later', { milliseconds })
      }
      return () => limits.uncount(counted, clock.now())
    },
    async add(ticket, { ofOneNetwork, total }, known) {
      const holder = known ?? UNKNOWN_NETWORK
      if (!(await tickets.add({ ...ticket, holder }))) return false
      if (known !== null) {
        const surplus = (await tickets.countHeld(ticket.kind, holder)) - ofOneNetwork
        if (surplus > 0) {
          await tickets.evict(ticket.kind, holder, Math.min(surplus, EVICTION_BATCH_SIZE))
        }
      }
      if (total !== null) trimInBackground(ticket.kind, total, () => trim(ticket.kind, total))
      return true
    },
    trim,
  }
}

/**
 * Computes how many tickets each of the largest holders loses, so that at least `surplus` tickets
 * are deleted in total. All holders that lose tickets keep the same number. If `largestFirst` does
 * not list all holders (`isAll` is `false`), every listed holder keeps at least as many tickets as
 * the last listed holder has, minus one.
 */
export function planEvictions(
  largestFirst: readonly HolderTicketCount[],
  surplus: number,
  isAll: boolean,
): HolderTicketCount[] {
  const floor = isAll ? 0 : Math.max(0, (largestFirst.at(-1)?.count ?? 0) - 1)
  let sum = 0
  let level = floor
  for (const [index, { count }] of largestFirst.entries()) {
    sum += count
    const enough = Math.floor((sum - surplus) / (index + 1))
    if (enough < (largestFirst[index + 1]?.count ?? floor)) continue
    level = enough
    break
  }
  return largestFirst
    .filter(({ count }) => count > level)
    .map(({ holder, count }) => ({ holder, count: count - level }))
}
