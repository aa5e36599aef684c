import type { BraintreeContext } from '../state/context.ts'
import type { XmlValue } from '../wire/xml.ts'

/** One call of the API, its keys and its path already checked. */
export interface Call {
  readonly context: BraintreeContext
  /** The `:name` segments of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The parsed body; undefined when there was none. */
  readonly body: unknown
}

/** The document to send, or null for an empty 200. */
export type OperationResponse = {
  readonly root: string
  readonly value: XmlValue
  readonly status?: 200 | 201
} | null

export type Operation = (call: Call) => OperationResponse

/** Operations by method and path below the resource's own segment: `'GET /:id'`. */
export type Operations = Readonly<Record<string, Operation>>
