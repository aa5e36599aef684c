import type { Tables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import type { LegacyFeature } from '../../wire/legacy-features.ts'
import type { WireObject } from '../../wire/wire-object.ts'

/** Converts a rendered object in place to the format of older API versions. */
export type ObjectChange = (wire: WireObject, tables: Tables) => void

/** Converts the parameters of an older SDK in place to current ones. */
export type ParamsChange = (form: FormObject, tables: Tables) => void

/** Converts an event's `previous_attributes`; `now` is the current object. */
export type PreviousChange = (previous: Record<string, unknown>, now: WireObject) => void

/**
 * A change of Stripe's API, described backwards. A request of an older version passes all later
 * changes: its parameters from the oldest change to the newest, its response in reverse.
 */
export interface VersionChange {
  /** First API version with the change, as a date. */
  readonly since: string
  /** Name of the change, as listed in the reference. */
  readonly name: string
  /** Conversions of parameters, by operation such as `'Subscriptions.update'`. */
  readonly params?: Readonly<Record<string, ParamsChange>>
  /**
   * Conversions of objects, by `object`. Nested objects are converted later, so they are still in
   * the current format.
   */
  readonly objects?: Readonly<Record<string, ObjectChange>>
  /** Conversions of `previous_attributes`, by the event's `object`. */
  readonly previous?: Readonly<Record<string, PreviousChange>>
  /** Removed fields that could be expanded, by `object`. */
  readonly expandable?: Readonly<Record<string, readonly string[]>>
  /** Removed text parameters that the operation still reads from its call, by operation. */
  readonly removedParams?: Readonly<Record<string, readonly string[]>>
  /** A feature that the change removed. */
  readonly removes?: LegacyFeature
  /** Removed paths, with the operation that handles them. */
  readonly routes?: Readonly<Record<string, string>>
}
