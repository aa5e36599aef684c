import { addDuration, type Duration } from '@tollgate/http'

/**
 * A source of scheduled work. It must derive the due work from the stored state on each call, never
 * from a closure, because a restored snapshot must have the same future.
 */
export interface ScheduledWork {
  /**
   * Returns when the earliest pending work is due, in epoch milliseconds. `null` if no work is
   * pending.
   */
  nextDue(): number | null
  /** Runs all work that is due at the time `at` (epoch milliseconds). */
  fireDue(at: number): void | Promise<void>
}

/**
 * The sandbox's clock, the only source of time. Only webhook signatures use the system clock
 * instead.
 */
export class MovableClock {
  #now: number
  #moving: Promise<void> = Promise.resolve()
  readonly #timelines: ScheduledWork[] = []
  readonly #watchers: Array<() => void> = []

  constructor(now: Date) {
    if (Number.isNaN(now.getTime())) throw new TypeError('The clock needs a valid date to start at')
    this.#now = now.getTime()
  }

  now(): Date {
    return new Date(this.#now)
  }

  nowMs(): number {
    return this.#now
  }

  /**
   * Adds a source of scheduled work to the clock. Work that is due at the same time runs in the
   * order in which the sources were added.
   */
  join(timeline: ScheduledWork): void {
    this.#timelines.push(timeline)
  }

  /**
   * Registers a callback that runs each time the clock has moved. It runs before the promise of
   * `advance()` resolves.
   */
  onMoved(watcher: () => void): void {
    this.#watchers.push(watcher)
  }

  /**
   * Moves the clock ahead and runs everything that becomes due, in chronological order.
   * @throws {RangeError} If the duration is negative.
   */
  advance(by: Duration): Promise<void> {
    return this.#queue(() => this.#moveTo(addDuration(this.now(), by).getTime()))
  }

  advanceTo(date: Date): Promise<void> {
    return this.#queue(() => this.#moveTo(date.getTime()))
  }

  /** Sets the clock to a time without running any due work. Use this only to restore a snapshot. */
  restoreTo(date: Date): void {
    this.#now = date.getTime()
  }

  #queue(move: () => Promise<void>): Promise<void> {
    const moved = this.#moving.then(move)
    this.#moving = moved.catch(() => undefined)
    return moved
  }

  async #moveTo(target: number): Promise<void> {
    if (Number.isNaN(target)) throw new TypeError('The clock can only move to a valid date')
    if (target < this.#now) throw new RangeError('The clock can only move forward')
    for (;;) {
      const next = this.#earliest()
      if (!next || next.due > target) break
      // Overdue work runs at the present time, because time never runs backwards.
      this.#now = Math.max(this.#now, next.due)
      const fired = next.timeline.fireDue(this.#now)
      if (fired) await fired
    }
    this.#now = target
    for (const tell of this.#watchers) tell()
  }

  #earliest(): { due: number; timeline: ScheduledWork } | null {
    let earliest: { due: number; timeline: ScheduledWork } | null = null
    for (const timeline of this.#timelines) {
      const due = timeline.nextDue()
      if (due !== null && (!earliest || due < earliest.due)) earliest = { due, timeline }
    }
    return earliest
  }
}
