/** Where "now" comes from; tests pass a movable one. */
export interface Clock {
  /** The present moment. */
  now(): Date
  /** The latest moment that may decide what is deleted. Defaults to `now()`. */
  settled?(): Date
  /**
   * Throws if this process must not issue, charge, send or delete anything now, because its time may not be that of the
   * others. Returns null if it may. Without this method the clock is always trusted.
   */
  check?(): Promise<void> | null
}

/**
 * The database's time as one process knows it. All processes on a database share this time, whatever their own
 * clocks say. Reading it sends no statement.
 */
export interface DatabaseClock extends Clock {
  /** The present moment by the database's clock. Never earlier than a moment that was recorded or returned before. */
  now(): Date
  /**
   * The latest moment that may decide what is deleted. Usually `now()`. Earlier after time has passed in an SQLite file
   * that no process was open to see: then for a day by that much, because the clock may be wrong.
   */
  settled(): Date
  /**
   * Returns null if this process may issue, purge and take work from queues. Otherwise it first reads the database's
   * clock again if the last reading is old.
   * @throws ClockNotTrusted with the reason.
   */
  check(): Promise<void> | null
  /** Whether the time was wrong at the last reading, which `check()` would throw for. A database that is away is none. */
  isWrong(): boolean
  /**
   * Compares the time with the newest that is recorded, and keeps that record up to date until the database is closed.
   * Needs the table of `createClockTable()`. Safe to call again.
   */
  begin(): Promise<void>
  /** Takes note of a time that came along with a statement, sent when `performance.now()` was `askedAt`. */
  observe(milliseconds: number, askedAt: number): void
  /**
   * Calls `listener` with the reason when this clock is no longer to be trusted, and with null when it is again. Of
   * several listeners only the first is called. Returns a function that removes the listener.
   */
  onChange(listener: (problem: string | null) => void): () => void
  /**
   * Takes the database's present time for right, although a later time is recorded. Processes that are running follow
   * within seconds.
   */
  repair(): Promise<ClockRepair>
}

/** Result of `DatabaseClock.repair()`. */
export interface ClockRepair {
  /** The newest time that was recorded before. `null` if none was. */
  readonly before: Date | null
  /** The time that is recorded now: the database's. */
  readonly now: Date
}

/** Settings of a `DatabaseClock`. */
export interface ClockOptions {
  /** Milliseconds by which clocks may differ. */
  readonly maxSkew: number
  /** Whether this process records the time. A process that does not still compares. */
  readonly records: boolean
}
