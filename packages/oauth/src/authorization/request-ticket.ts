import type { ServerContext } from '../context.ts'
import { InvalidRequestUri } from '../errors.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'
import { revokeTokens } from '../tokens/revoke.ts'

/**
 * Consumes the single-use ticket of an authorization request, so that the request is answered only
 * once. Call it after the code or token is stored and before the response is sent: until then, a
 * person who reloads the page can continue. If the ticket was already consumed, the stored token is
 * revoked.
 * @throws InvalidRequestUri if the request was already answered
 */
export async function consumeTicketForResponse(
  ticket: string | null,
  token: Token | undefined,
  context: ServerContext,
): Promise<void> {
  if (ticket === null || (await context.storage.tickets.take(ticket))) return
  if (token) await revokeTokens({ id: token.id }, context)
  throw createRequestGoneError()
}

/**
 * Consumes the single-use ticket of an authorization request that ends with an error. Does not fail
 * if the ticket is already consumed, so the same error may be sent twice.
 */
export async function consumeTicketAfterError(
  ticket: string | null,
  context: ServerContext,
): Promise<void> {
  if (ticket !== null) await context.storage.tickets.take(ticket)
}

export function createRequestGoneError(): InvalidRequestUri {
  return new InvalidRequestUri('This request is unknown, was already answered, or has expired', {
    hint: 'Go back to the application and start again',
  })
}

/**
 * Adds the hash of a single-use ticket to the details that are stored while the person decides.
 * `splitTicketFromDetails()` separates them again.
 */
export function addTicketToDetails(
  details: GrantDetails | null,
  ticket: string | null,
): GrantDetails | null {
  if (ticket === null) return details
  return details === null ? { ticket, ticketOnly: true } : { ...details, ticket }
}

export function splitTicketFromDetails(storedDetails: GrantDetails | null): {
  readonly ticket: string | null
  readonly details: GrantDetails | null
} {
  if (storedDetails?.ticket === undefined) return { ticket: null, details: storedDetails }
  const { ticket, ticketOnly, ...details } = storedDetails
  // Empty details differ from `null`: a feature has read the request and found nothing to store.
  return { ticket, details: ticketOnly ? null : details }
}
