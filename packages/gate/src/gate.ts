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
  /** Largest number of units. `null` without a limit. */
  readonly quota: number | null
  /** Units left, at least 0. `null` without a limit. */
  readonly remaining: number | null
  /** When the quota starts over. `null` if it never does, as for a gauge. */
  readonly resetsAt: Date | null
}

/** Options of `record()`. */
export interface RecordOptions {
  /**
   * Your own id of this use, such as the id of a job. Recording the same id again has no effect.
   */
  readonly id: string
  /** When it was used. @default now */
  readonly at?: Date
}

/**
 * Decides what callers may do by their plan, and counts what they use. Created by `createGate()`.
 */
export interface Gate<MeterName extends string = string> {
  /**
   * Counts use of a meter if the plan of the subject allows it. Without a promise if this process
   * has leased enough of the quota.
   * @throws InvalidUse for an unknown meter or an impossible amount
   * @throws GateUnavailable if the database is unavailable and the meter refuses then
   * @example
   * const verdict = await gate.admit({ type: 'user', id: 7 }, 'calls')
   * if (!verdict.allowed) return respond(verdict.response)
   */
  admit(subject: Subject, meter: MeterName, amount?: number): Verdict | Promise<Verdict>
  /**
   * Whether `admit()` would be allowed now. Counts nothing.
   * @throws InvalidUse for an unknown meter or an impossible amount
   */
  check(subject: Subject, meter: MeterName, amount?: number): Promise<Verdict>
  /**
   * Takes an amount whose exact size is known only afterwards, such as the tokens of an answer. Call
   * `settle()` or `release()` on the reservation.
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
   * Counts use that has already happened, whatever the quota says. Each `id` of a subject counts
   * once. Returns `false` if the id was recorded before.
   * @throws InvalidUse for an unknown meter or an impossible amount
   */
  record(
    subject: Subject,
    meter: MeterName,
    amount: number,
    options: RecordOptions,
  ): Promise<boolean>
  /**
   * Changes the level of a gauge by `by`, which may be negative, if the plan allows the result.
   * @throws InvalidUse if the meter is no gauge, or the level would be negative
   */
  adjust(subject: Subject, meter: MeterName, by: number): Promise<Verdict>
  /** Returns what the subject has used of each meter of its plan. */
  usage(subject: Subject): Promise<MeterUsage[]>
  /** Name of the plan of the subject at the moment. */
  planOf(subject: Subject): Promise<string>
  /** Whether the subject is on one of these plans, with the response if it is not. */
  checkPlan(subject: Subject, plans: readonly string[]): Promise<Verdict>
  /** Whether the plan of the subject includes the feature, with the response if it does not. */
  checkFeature(subject: Subject, feature: string): Promise<Verdict>
  /**
   * Scopes that the plan of the subject allows. `null` for every scope. Without a promise if the
   * plan is known.
   */
  scopesOf(subject: Subject): ReadonlySet<string> | null | Promise<ReadonlySet<string> | null>
  /**
   * Makes an exception for one subject: another plan, or other terms. Replaces an earlier override.
   * Takes effect on every process within a second.
   * @throws InvalidUse if the override names something unknown
   */
  override(subject: Subject, override: Override): Promise<void>
  /** Removes the override of a subject. Returns whether there was one. */
  removeOverride(subject: Subject): Promise<boolean>
  /**
   * Lets every process determine the plan of the subject again, within a second. Call it when
   * `planOf()` would return something else.
   */
  refresh(subject: Subject): Promise<void>
  /** Creates or updates the tables. Runs by itself on first use unless the option `migrate` is false. */
  migrate(options?: MigrateOptions): Promise<{ applied: string[] }>
  /** Lists the migrations that `migrate()` would run, with their statements. Changes nothing. */
  planMigrations(): Promise<PlannedMigration[]>
  /** Deletes what is no longer needed, in small batches. Call it daily. Returns the number of rows. */
  purge(): Promise<number>
  /** Gives back what this process has leased, and stops its timers. Does not close the database. */
  close(): Promise<void>
}
