import type { StoreTable } from '../../core/store/table.ts'
import type { BraintreeContext } from '../state/context.ts'
import { NotFound } from '../wire/errors.ts'
import type { XmlValue } from '../wire/xml.ts'

/** An API call with verified keys and a known route. */
export interface BraintreeApiCall {
  readonly context: BraintreeContext
  /** Values of the `:name` segments in the route's path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The parsed request body. `undefined` if the request has none. */
  readonly body: unknown
}

/**
 * Result of an operation: the XML document to send (root element, content and status), or `null`
 * for an empty response with status 200.
 */
export type OperationResponse = {
  readonly root: string
  readonly value: XmlValue
  readonly status?: 200 | 201
} | null

export type BraintreeOperation = (call: BraintreeApiCall) => OperationResponse

/**
 * Operations of one resource. The keys are the method and the path relative to the resource, such
 * as `GET /:id`.
 */
export type BraintreeOperations = Readonly<Record<string, BraintreeOperation>>

/**
 * Returns the row with the id that a path contains.
 * @throws {NotFound} if there is no row with this id.
 */
export function requireRow<Row extends object>(
  table: StoreTable<Row>,
  id: string | undefined,
): Row {
  const row = table.get(id ?? '')
  if (!row) throw new NotFound('Nothing has this id')
  return row
}
