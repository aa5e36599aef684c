import type { Table } from '../../core/store/table.ts'
import type { BraintreeContext } from '../state/context.ts'
import { NotFound } from '../wire/errors.ts'
import type { XmlValue } from '../wire/xml.ts'

/** An API call with verified keys and a known route. */
export interface Call {
  readonly context: BraintreeContext
  /** Values of the `:name` segments of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The parsed body. `undefined` if there was none. */
  readonly body: unknown
}

/** The document to send, or `null` for an empty response with status 200. */
export type OperationResponse = {
  readonly root: string
  readonly value: XmlValue
  readonly status?: 200 | 201
} | null

export type Operation = (call: Call) => OperationResponse

/** Operations by method and path relative to the resource: `'GET /:id'`. */
export type Operations = Readonly<Record<string, Operation>>

/**
 * Finds the row with the id of a path.
 * @throws {NotFound} if it does not exist.
 */
export function requireRow<Row extends object>(table: Table<Row>, id: string | undefined): Row {
  const row = table.get(id ?? '')
  if (!row) throw new NotFound('Nothing has this id')
  return row
}
