import type { StripeTables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import type { LegacyFeature } from '../../wire/legacy-features.ts'
import type { WireObject } from '../../wire/wire-object.ts'

/** Converts a rendered object, in place, from the current format to that of older API versions. */
export type ObjectChange = (wire: WireObject, tables: StripeTables) => void

/** Converts the parameters of an older API version, in place, to the current ones. */
export type ParamsChange = (form: FormObject, tables: StripeTables) => void

/**
 * Converts an event's `previous_attributes`, in place, to the format of older API versions. `now`
 * is the current object.
 */
export type PreviousChange = (previous: Record<string, unknown>, now: WireObject) => void

/**
 * A change of Stripe's API, with functions that convert between the versions before it and after
 * it. For a request in an older version, the sandbox applies all changes made since then: to the
 * parameters from the oldest change to the newest, and to the response from the newest to the
 * oldest.
 */
export interface VersionChange {
  /** Date of the first API version with the change. */
  readonly since: string
  /** Name of the change, as in the list of docs/reference/sandbox.md. */
  readonly name: string
  /** Conversions of request parameters, by operation such as `'Subscriptions.update'`. */
  readonly params?: Readonly<Record<string, ParamsChange>>
  /**
   * Conversions of response objects, by the field `object`. Nested objects are converted later, so
   * they still have the current format.
   */
  readonly objects?: Readonly<Record<string, ObjectChange>>
  /**
   * Conversions of an event's `previous_attributes`, by the field `object` of the changed object.
   */
  readonly previous?: Readonly<Record<string, PreviousChange>>
  /** Fields that `expand` accepts in older versions only, by the field `object`. */
  readonly expandable?: Readonly<Record<string, readonly string[]>>
  /**
   * Names of text parameters that exist in older versions only and which the operation reads
   * itself, by operation.
   */
  readonly removedParams?: Readonly<Record<string, readonly string[]>>
  /** Feature that exists in older versions only. */
  readonly removes?: LegacyFeature
  /** Paths that exist in older versions only, with the operation that handles each. */
  readonly routes?: Readonly<Record<string, string>>
}
