import type { MigrateOptions, PlannedMigration } from '@tollgate/database'
import type { Reservation, ReserveOptions } from './quotas/reservations.ts'
import type { Override } from './storage/overrides.ts'
import type { Subject } from './subject.ts'
import type { Verdict } from './verdict.ts'

/** How much of a meter a subject has used in the current window. */
export interface MeterUsage {
  /** Name of the meter. */
  readonly meter: string
  /** Name of one unit, such as `tokens`. `null` if the meter has no name for it. */
  readonly unit: string | null
  /**
   * Units used. Includes units that other processes have leased and perhaps not spent, so the true
   * number may be a little smaller.
   */
  readonly used: number
  /** Largest number of units that the plan allows. `null` without a limit. */
  readonly quota: number | null
  /** Units left, at least 0. `null` without a limit. */
  readonly remaining: number | null
  /** When the quota starts over. `null` if it never does, as for a gauge. */
  readonly resetsAt: Date | null
}

/** Options of `record()`. */
export interface RecordOptions {
  /**
   * Id of this use in your application, such as the id of a job. Recording the same id again for
   * the subject has no effect.
   */
  readonly id: string
  /** Time of the use, not in the future. @default now */
  readonly at?: Date
}

/**
 * Decides by a caller's plan what the caller may do, and counts the caller's use. Created by
 * `createGate()`.
 */
export interface Gate<MeterName extends string = string> {
  /**
   * Counts use of a meter if the subject's plan allows it. Returns the verdict directly instead of
   * a promise if this process has leased enough of the quota.
   * @throws InvalidUse for an unknown meter or an impossible amount
   * @throws GateUnavailable if the database is unavailable and the meter's `onOutage` does not
   * admit the use
   * @example
   * const verdict = await gate.admit({ type: 'user', id: 7 }, 'calls')
   * if (!verdict.allowed) return respond(verdict.response)
   */
  admit(subject: Subject, meter: MeterName, amount?: number): Verdict | Promise<Verdict>
  /**
   * Returns the verdict that `admit()` would return now, without counting the use.
   * @throws InvalidUse for an unknown meter or an impossible amount
   */
  check(subject: Subject, meter: MeterName, amount?: number): Promise<Verdict>
  /**
   * Reserves units for use whose exact size is known only afterwards, such as the tokens of a
   * model's response. Then call `settle()` or `release()` on the reservation.
   * @throws InvalidUse for an unknown meter or an impossible amount
   * @example
   * const { reservation, ...verdict } = await gate.reserve(subject, 'tokens', 4000)
   * if (!reservation) return respond(verdict.response)
   * await reservation.settle(await answer())
   */
  reserve(
    subject: Subject,
    meter: MeterName,
    amount: number,
    options?: ReserveOptions,
  ): Promise<Verdict & { readonly reservation: Reservation | null }>
  /**
   * Counts use that has already happened, even if it exceeds the quota. Counts each `id` once per
   * subject: returns `false` if the id was recorded before.
   * @throws InvalidUse for an unknown meter or an impossible amount
   */
  record(
    subject: Subject,
    meter: MeterName,
    amount: number,
    options: RecordOptions,
  ): Promise<boolean>
  /**
   * Raises the level of a gauge by `by`, or lowers it if `by` is negative, unless the new level
   * would exceed the quota.
   * @throws InvalidUse if the meter is no gauge, or the level would be negative
   */
  adjust(subject: Subject, meter: MeterName, by: number): Promise<Verdict>
  /** Returns how much the subject has used of each meter in its plan. */
  usage(subject: Subject): Promise<MeterUsage[]>
  /** Returns the name of the subject's current plan. */
  planOf(subject: Subject): Promise<string>
  /** Returns a verdict that allows the use if the subject has one of these plans. */
  checkPlan(subject: Subject, plans: readonly string[]): Promise<Verdict>
  /** Returns a verdict that allows the use if the subject's plan includes this feature. */
  checkFeature(subject: Subject, feature: string): Promise<Verdict>
  /**
   * Returns the scopes that the subject's plan allows, or `null` if it allows every scope. Returns
   * them directly instead of a promise if the plan is in memory.
   */
  scopesOf(subject: Subject): ReadonlySet<string> | null | Promise<ReadonlySet<string> | null>
  /**
   * Gives one subject another plan or other terms. Replaces an earlier override of the subject.
   * Takes effect on every process within a second.
   * @throws InvalidUse if the override names an unknown plan or meter, or has invalid terms
   */
  override(subject: Subject, override: Override): Promise<void>
  /** Removes the override of a subject. Returns whether there was one. */
  removeOverride(subject: Subject): Promise<boolean>
  /**
   * Makes every process determine the subject's plan again within a second. Call it when the result
   * of your `planOf()` for the subject has changed.
   */
  refresh(subject: Subject): Promise<void>
  /** Creates or updates the tables. Runs by itself on first use unless the option `migrate` is false. */
  migrate(options?: MigrateOptions): Promise<{ applied: string[] }>
  /** Lists the migrations that `migrate()` would run, with their statements. Changes nothing. */
  planMigrations(): Promise<PlannedMigration[]>
  /**
   * Deletes counters and records whose time is long past, and old entries of the list of changes.
   * Call it daily. Returns the number of deleted rows.
   */
  purge(): Promise<number>
  /**
   * Gives unused leased units back to their quotas, and stops the gate's timers. Does not close the
   * database.
   */
  close(): Promise<void>
}
