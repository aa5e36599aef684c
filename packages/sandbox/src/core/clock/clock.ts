import { addMonths } from './calendar.ts'

/** A span of time. Years and months follow the calendar in UTC; the rest is exact. */
export interface Duration {
  /** Twelve months each. */
  readonly years?: number
  /** 31 January and one month is the last day of February. */
  readonly months?: number
  /** Seven days each. */
  readonly weeks?: number
  /** 24 hours each. */
  readonly days?: number
  /** 60 minutes each. */
  readonly hours?: number
  /** 60 seconds each. */
  readonly minutes?: number
  /** Stripe knows nothing shorter. */
  readonly seconds?: number
}

/**
 * Work that falls due. What is due is derived from state each time it is asked and never kept in a
 * closure, because a restored snapshot must have the same future.
 */
export interface Timeline {
  /** Epoch milliseconds of the earliest thing still to happen. */
  nextDue(): number | null
  /** Does everything of this timeline that is due at `at`. */
  fireDue(at: number): void | Promise<void>
}

/** The only source of time: nothing else in the sandbox reads the system's, except for the signatures of webhooks. */
export class MovableClock {
  #now: number
  #moving: Promise<void> = Promise.resolve()
  readonly #timelines: Timeline[] = []
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

  /** Timelines that fall due at the same instant fire in the order they joined. */
  join(timeline: Timeline): void {
    this.#timelines.push(timeline)
  }

  /** Calls back when time has moved, before whoever moved it goes on. */
  onMoved(watcher: () => void): void {
    this.#watchers.push(watcher)
  }

  /** Moves time forward and does everything that falls due on the way, in order. */
  advance(by: Duration): Promise<void> {
    return this.#queue(() => this.#moveTo(addDuration(this.now(), by).getTime()))
  }

  advanceTo(date: Date): Promise<void> {
    return this.#queue(() => this.#moveTo(date.getTime()))
  }

  /** Sets the time without firing anything: for a restored snapshot only. */
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
    if (target < this.#now) throw new RangeError('The clock moves forward only')
    for (;;) {
      const next = this.#earliest()
      if (!next || next.due > target) break
      // Something overdue fires now: time never runs backwards.
      this.#now = Math.max(this.#now, next.due)
      const fired = next.timeline.fireDue(this.#now)
      if (fired) await fired
    }
    this.#now = target
    for (const tell of this.#watchers) tell()
  }

  #earliest(): { due: number; timeline: Timeline } | null {
    let earliest: { due: number; timeline: Timeline } | null = null
    for (const timeline of this.#timelines) {
      const due = timeline.nextDue()
      if (due !== null && (!earliest || due < earliest.due)) earliest = { due, timeline }
    }
    return earliest
  }
}

export function addDuration(date: Date, by: Duration): Date {
  const months = (by.years ?? 0) * 12 + (by.months ?? 0)
  const seconds =
    ((by.weeks ?? 0) * 7 + (by.days ?? 0)) * 86_400 +
    (by.hours ?? 0) * 3600 +
    (by.minutes ?? 0) * 60 +
    (by.seconds ?? 0)
  return new Date(addMonths(date, months).getTime() + seconds * 1000)
}
