import type { UnitOfWork } from '../state/unit-of-work.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { ListResponse } from './lists.ts'

/** One call of the API, parameters already checked against the contract. */
export interface Call {
  readonly work: UnitOfWork
  /** The ids of the path, in order. */
  readonly ids: readonly string[]
  readonly path: string
  /** What an older version may send that is no parameter today. */
  readonly gone: Readonly<Record<string, string>>
  /** A person typed it into a field of the sandbox's own, where a card's number may stand. */
  readonly isTypedIn: boolean
}

export type OperationResponse = WireObject | ListResponse | { readonly [field: string]: unknown }

/** `params` is what the contract's type for this operation says; `op` states which type that is. */
export type Operation = (params: never, call: Call) => OperationResponse

export function op<P>(run: (params: P, call: Call) => OperationResponse): Operation {
  return run as Operation
}

/** Operations by the SDK's own names: `'Customers.create'`. */
export type Operations = Readonly<Record<string, Operation>>

export function idOf(call: Call): string {
  return call.ids[call.ids.length - 1] ?? ''
}
