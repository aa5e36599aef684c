/** The numbers that determine the size of a process's next lease. */
export interface LeaseDemand {
  /** Units of the quota that no process has leased. */
  readonly remaining: number
  /** Number of processes that lease from counters at the moment. */
  readonly processes: number
  /** Units that callers are waiting for. */
  readonly waiting: number
  /** Size of the previous lease. 0 for the first. */
  readonly previous: number
  /** Milliseconds in which the previous lease was used up. */
  readonly usedUpIn: number
}

/** A lease that lasts shorter than this is followed by one of twice the size. */
const SOON = 2000
/** A lease that lasts longer than this is followed by one of half the size. */
const LATE = 10_000
/** Size of the largest lease of a meter without a quota. */
const LARGEST = 1_000_000

/**
 * Chooses how many units to lease. Leases grow with demand, so that a busy process rarely asks the
 * database and a crash of an idle one loses little. They shrink as the quota is used up, so that no
 * process holds back units that others need: each process takes at most half of its fair share of
 * the rest.
 */
export function chooseLeaseSize(demand: LeaseDemand): number {
  const { remaining, processes, waiting, previous, usedUpIn } = demand
  const wanted =
    usedUpIn < SOON ? previous * 2 : usedUpIn > LATE ? Math.ceil(previous / 2) : previous
  const share = Math.ceil(remaining / (2 * Math.max(1, processes)))
  const size = Math.min(Math.max(wanted, waiting), share, LARGEST)
  return Math.max(1, size, Math.min(waiting, remaining, share))
}
