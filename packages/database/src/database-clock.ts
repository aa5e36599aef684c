/** The source of the current time. Tests pass a clock that they can move. */
export interface Clock {
  /** The current time. */
  now(): Date
  /**
   * The time that decides whether a row has expired and can be deleted. May be earlier than `now()`.
   * @default now()
   */
  settled?(): Date
  /**
   * Returns `null` if this process may issue tokens, charge, send or delete now. Rejects if the
   * time of this process may differ from the time of other processes. Without this method, the
   * clock is always trusted.
   */
  check?(): Promise<void> | null
}

/**
 * The database's time as this process knows it. All processes on a database share this time,
 * whatever their own clocks show. Reading it sends no statement.
 */
export interface DatabaseClock extends Clock {
  /**
   * The current time by the database's clock. Never earlier than a moment that was recorded or
   * returned before.
   */
  now(): Date
  /**
   * The time that decides whether a row has expired and can be deleted. Usually equal to `now()`.
   * After a pause in which no process had the SQLite file open, this time is behind `now()` by the
   * length of the pause, for one day, because the clock may be wrong.
   */
  settled(): Date
  /**
   * Returns `null` if this process may issue tokens, delete expired rows and take work from queues.
   * If the last reading is old, first reads the database's clock again.
   * @throws {ClockNotTrusted} with the reason, if it may not.
   */
  check(): Promise<void> | null
  /**
   * Whether the time was wrong at the last reading, so that `check()` would reject. An unreachable
   * database does not count as wrong.
   */
  isWrong(): boolean
  /**
   * Compares the time with the newest recorded one, and keeps that record up to date until the
   * database is closed. Requires the table created by `createClockTable()`. Idempotent.
   */
  begin(): Promise<void>
  /**
   * Adds a time that a statement returned, in milliseconds. `askedAt` is the value of
   * `performance.now()` when the statement was sent.
   */
  observe(milliseconds: number, askedAt: number): void
  /**
   * Calls `listener` with the reason when this clock is no longer trusted, and with `null` when it
   * is trusted again. Calls it immediately if the clock is not trusted now. Returns a function that
   * removes the listener.
   */
  onChange(listener: (problem: string | null) => void): () => void
  /**
   * Declares the database's current time correct, even if a later time is recorded. Running
   * processes adopt the current time within seconds.
   */
  repair(): Promise<ClockRepair>
}

/** Result of `DatabaseClock.repair()`. */
export interface ClockRepair {
  /** The newest time that had been recorded. `null` if there was none. */
  readonly before: Date | null
  /** The newly recorded time: the database's current time. */
  readonly now: Date
}

/** Options for a `DatabaseClock`. */
export interface ClockOptions {
  /** Largest allowed difference between clocks, in milliseconds. */
  readonly maxSkew: number
  /**
   * Whether this process records the time. If `false`, it only compares its clock with the recorded
   * time.
   */
  readonly records: boolean
}
