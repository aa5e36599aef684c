import type { BraintreeContext } from '../state/context.ts'
import type { ClientAuthorization } from '../vault/fingerprints.ts'
import type { Fields } from '../wire/validation.ts'

/** A call of a page that was given a client token. */
export interface ClientCall {
  readonly context: BraintreeContext
  readonly authorization: ClientAuthorization
  /** The values of `:name` segments of the path. */
  readonly params: Readonly<Record<string, string>>
  /** Names with underscores, whichever way they came. */
  readonly fields: Fields
}

/** What is sent as JSON, and with which status. */
export interface ClientResponse {
  readonly status: 200 | 201
  readonly value: object
}
