import type { Tables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import type { OldWay } from '../../wire/old-ways.ts'
import type { WireObject } from '../../wire/wire-object.ts'

/** Changes its own copy of an object of today into what older versions send. */
export type ObjectChange = (wire: WireObject, tables: Tables) => void

/** Changes the form of an older SDK into what is sent today. */
export type ParamsChange = (form: FormObject, tables: Tables) => void

/** The old values of what changed, as an event tells them; `now` is the object as it is today. */
export type PreviousChange = (previous: Record<string, unknown>, now: WireObject) => void

/**
 * One thing Stripe changed in its API, told backwards. A request of an older version goes through all
 * changes it has not seen: its parameters from the oldest to the newest, the response the other way.
 */
export interface VersionChange {
  /** The first version that has it, by its date. */
  readonly since: string
  /** As its file is called. */
  readonly name: string
  /** By operation: `'Subscriptions.update'`. */
  readonly params?: Readonly<Record<string, ParamsChange>>
  /** By `object`. What an object holds is changed after it, so here that is still as today. */
  readonly objects?: Readonly<Record<string, ObjectChange>>
  /** By the `object` an event is about. */
  readonly previous?: Readonly<Record<string, PreviousChange>>
  /** By `object`: fields with an id that `expand` took and that are gone today. */
  readonly expandable?: Readonly<Record<string, readonly string[]>>
  /** By operation: texts that are no parameters any more. The operation reads them from its call. */
  readonly takes?: Readonly<Record<string, readonly string[]>>
  /** What could be done before it, and cannot be since. */
  readonly ends?: OldWay
  /** Addresses that are gone, and the operation that does their work. */
  readonly routes?: Readonly<Record<string, string>>
}
