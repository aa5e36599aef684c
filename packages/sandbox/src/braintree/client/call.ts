import type { BraintreeContext } from '../state/context.ts'
import type { ClientAuthorization } from '../vault/fingerprints.ts'
import type { RequestFields } from '../wire/validation.ts'

/** A call that a page in a browser makes with a client token. */
export interface ClientCall {
  readonly context: BraintreeContext
  readonly authorization: ClientAuthorization
  /** Values of the `:name` segments in the call's path. */
  readonly params: Readonly<Record<string, string>>
  /** Fields of the request. Their names are snake_case, whichever spelling was sent. */
  readonly fields: RequestFields
}

/** Status and JSON body of the response to a page. */
export interface ClientResponse {
  readonly status: 200 | 201
  readonly value: object
}
