import type { Clock } from '../clock.ts'
import { TooManyRequests } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { HeldTickets, Ticket } from '../storage/records.ts'
import type { LimitRepository, TicketRepository } from '../storage/repositories.ts'

/** A bound in total is at least so many times the share of one network. */
export const NETWORKS_IN_TOTAL = 1000

/** How often one network may ask for something that costs us. */
export interface RatePolicy {
  /** What is counted. */
  readonly name: string
  /** How many. */
  readonly points: number
  /** In how many seconds. */
  readonly seconds: number
}

/** How much of something is kept while nobody has approved or used it. */
export interface SharePolicy {
  /** How many one network may have. */
  readonly ofOneNetwork: number
  /** How many there may be in total, `NETWORKS_IN_TOTAL` times as many at least; null for no bound. */
  readonly total: number | null
}

/**
 * The rule for everything that strangers make the server do or store. A rate is counted per network, and what exceeds
 * it is refused for a short time. What is stored has a bound per network and one in total: beyond the first, the
 * network loses its own oldest unused entry; beyond the second, whoever holds the most does. Nothing that was approved or
 * used is evicted. Without a known network only the bounds in total hold.
 */
export interface ResourceLimits {
  /** Counts one more. Throws TooManyRequests when the network had enough. Gives what takes the count back. */
  count(rate: RatePolicy, network: string | null): Promise<() => Promise<void>>
  /**
   * Adds an unused ticket and makes room for it; false when there is one with this hash. `holder` is a network, or a
   * client that has proven itself; null for a network that is not known.
   */
  add(ticket: Omit<Ticket, 'holder'>, share: SharePolicy, holder: string | null): Promise<boolean>
  /** Evicts what is beyond the bound in total; says how many. `add` does it from time to time, in the background. */
  trim(kind: string, total: number): Promise<number>
}

/** What has no known network is counted under this name. */
const UNKNOWN = 'unknown'
/** How many of the largest holders are looked at in one step. */
const HOLDERS_AT_ONCE = 100
const EVICTED_AT_ONCE = 500
/** Counting all costs more than adding one, so it is done after each hundredth part of the bound. */
const TRIMMED_IN_PARTS = 100
/** Names of counts begin with it. */
const RATE = 'rate:'
/** Counts in total, each of one network and of at most an hour. Beyond that those go that end first, which refuses nobody. */
const MOST_COUNTS = 1_000_000

/** Creates the limits over a store that all processes share. */
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

  /** Before the first ticket of this process, and after each part of the bound. */
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
      const holders = await tickets.listHolders(kind, HOLDERS_AT_ONCE)
      const before = evicted
      const isAll = holders.length < HOLDERS_AT_ONCE
      for (const { holder, count } of levelDown(holders, surplus, isAll)) {
        evicted += await tickets.evict(kind, holder, Math.min(count, EVICTED_AT_ONCE))
      }
      if (evicted === before) return evicted
    }
  }

  async function trimCounts(): Promise<void> {
    while ((await limits.forget(RATE, MOST_COUNTS, EVICTED_AT_ONCE)) > 0);
  }

  /** One at a time, from time to time, and nobody waits for it. */
  function trimLater(kind: string, total: number, work: () => Promise<unknown>): void {
    if (!isTimeToTrim(kind, total)) return
    trimming.add(kind)
    work()
      .catch((error) => logger.error(`What is beyond its bound (${kind}) is deleted later`, error))
      .finally(() => trimming.delete(kind))
  }

  return {
    async count({ name, points, seconds }, network) {
      const at = clock.now()
      const counted = `${RATE}${name}:${network ?? UNKNOWN}`
      const until = new Date(at.getTime() + seconds * 1000)
      const count = await limits.count(counted, at, until)
      if (count.points === 1) trimLater(RATE, MOST_COUNTS, trimCounts)
      const most = network === null ? points * NETWORKS_IN_TOTAL : points
      if (count.points > most) {
        const milliseconds = count.expiresAt.getTime() - at.getTime()
        throw new TooManyRequests('Too many requests; try again later', { milliseconds })
      }
      return () => limits.uncount(counted, clock.now())
    },
    async add(ticket, { ofOneNetwork, total }, known) {
      const holder = known ?? UNKNOWN
      if (!(await tickets.add({ ...ticket, holder }))) return false
      if (known !== null) {
        const surplus = (await tickets.countHeld(ticket.kind, holder)) - ofOneNetwork
        if (surplus > 0) {
          await tickets.evict(ticket.kind, holder, Math.min(surplus, EVICTED_AT_ONCE))
        }
      }
      if (total !== null) trimLater(ticket.kind, total, () => trim(ticket.kind, total))
      return true
    },
    trim,
  }
}

/**
 * How many each of the largest holders loses: the surplus together, or a few more, and none falls below another. Where
 * they are not all, the others may have as many as the last one, so nobody falls further below it than by one.
 */
export function levelDown(
  largestFirst: readonly HeldTickets[],
  surplus: number,
  isAll: boolean,
): HeldTickets[] {
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
