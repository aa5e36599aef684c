import type { BraintreeContext } from '../state/context.ts'
import type { ClientAuthorization } from '../vault/fingerprints.ts'
import type { Fields } from '../wire/validation.ts'

/** A call that a page makes with a client token. */
export interface ClientCall {
  readonly context: BraintreeContext
  readonly authorization: ClientAuthorization
  /** Values of the `:name` segments of the path. */
  readonly params: Readonly<Record<string, string>>
  /** The request's fields with snake_case names, whatever spelling was sent. */
  readonly fields: Fields
}

/** Status and JSON body of the response. */
export interface ClientResponse {
  readonly status: 200 | 201
  readonly value: object
}
