import { InvalidUse } from '../errors.ts'
import type { Leases, QuotaTarget } from './leases.ts'

/** Options of `reserve()`. */
export interface ReserveOptions {
  /** Milliseconds after which the reservation is released automatically. @default 10 minutes */
  readonly expiresIn?: number
}

/** Result of `settle()`. */
export interface Settlement {
  /** Units that count against the quota. */
  readonly counted: number
  /** Units that were used beyond the reservation and exceeded the quota. They are not counted. */
  readonly uncounted: number
}

/** Units of a quota that are reserved for use whose size is known only afterwards. */
export interface Reservation {
  /** Number of reserved units. May be fewer than requested if the meter has `over: 'cap'`. */
  readonly amount: number
  /** When the reservation is released automatically. */
  readonly expiresAt: Date
  /**
   * Counts the used units, and gives the rest of the reservation back to the quota. Use beyond the
   * reserved amount is counted as far as the quota allows. After the reservation has expired, all
   * used units are taken from the quota again.
   * @throws InvalidUse if the reservation was settled or released before, or the number is invalid
   */
  settle(used: number): Promise<Settlement>
  /**
   * Gives all reserved units back to the quota. Does nothing if the reservation was settled,
   * released, or has expired.
   */
  release(): Promise<void>
}

const DEFAULT_EXPIRY = 10 * 60_000
const LONGEST_EXPIRY = 24 * 3_600_000

/** The open reservations of this process. */
export interface Reservations {
  /** Creates a reservation of units that the caller has just spent from the lease. */
  open(
    target: QuotaTarget,
    amount: number,
    billsMore: boolean,
    options: ReserveOptions,
  ): Reservation
  /** Releases reservations that have expired. Called every second. */
  sweep(): Promise<void>
  /** Releases every reservation. */
  close(): Promise<void>
}

interface Open {
  readonly target: QuotaTarget
  readonly amount: number
  readonly endsAt: number
  state: 'open' | 'expired' | 'ended'
}

/** @throws InvalidUse if `expiresIn` is invalid */
export function requireExpiry({ expiresIn = DEFAULT_EXPIRY }: ReserveOptions): number {
  if (Number.isFinite(expiresIn) && expiresIn > 0 && expiresIn <= LONGEST_EXPIRY) return expiresIn
  throw new InvalidUse(
    `expiresIn: ${expiresIn} is not possible. Give milliseconds from 1 to ${LONGEST_EXPIRY} (one day).`,
  )
}

export function createReservations(leases: Leases, now: () => Date): Reservations {
  const open = new Set<Open>()

  async function release(held: Open, state: 'expired' | 'ended'): Promise<void> {
    if (held.state !== 'open') return
    held.state = state
    open.delete(held)
    await leases.restore(held.target, held.amount)
  }

  return {
    open(target, amount, billsMore, options) {
      const expiresIn = requireExpiry(options)
      const held: Open = { target, amount, endsAt: performance.now() + expiresIn, state: 'open' }
      open.add(held)
      return {
        amount,
        expiresAt: new Date(now().getTime() + expiresIn),
        async settle(used) {
          if (!Number.isSafeInteger(used) || used < 0) {
            throw new InvalidUse(
              `settle: ${used} is not a number of units. Give a whole number from 0.`,
            )
          }
          if (held.state === 'ended') {
            throw new InvalidUse('settle: this reservation was settled or released before')
          }
          const wasOpen = held.state === 'open'
          held.state = 'ended'
          open.delete(held)
          const covered = wasOpen ? Math.min(used, amount) : 0
          if (wasOpen) await leases.restore(target, amount - covered)
          const more = used - covered
          if (more === 0) return { counted: covered, uncounted: 0 }
          if (billsMore) {
            await leases.force(target, more)
            return { counted: used, uncounted: 0 }
          }
          const counted = await leases.spendUpTo(target, more)
          return { counted: covered + counted, uncounted: more - counted }
        },
        release: () => release(held, 'ended'),
      }
    },
    async sweep() {
      const at = performance.now()
      for (const held of open) if (at >= held.endsAt) await release(held, 'expired')
    },
    async close() {
      for (const held of open) await release(held, 'ended')
    },
  }
}
