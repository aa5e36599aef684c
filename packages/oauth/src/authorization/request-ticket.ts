import type { ServerContext } from '../context.ts'
import { InvalidRequestUri } from '../errors.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'
import { revokeTokens } from '../tokens/revoke.ts'

/**
 * Consumes the ticket of the request, so that only one response is sent. This happens last, when
 * the response is stored but not sent: a person who loads the page twice, or whose request failed
 * meanwhile, has lost nothing. If another response was first, the token is revoked; an unsent code
 * is worthless.
 * @throws InvalidRequestUri if another response was first
 */
export async function claimResponse(
  ticket: string | null,
  token: Token | undefined,
  context: ServerContext,
): Promise<void> {
  if (ticket === null || (await context.storage.tickets.take(ticket))) return
  if (token) await revokeTokens({ id: token.id }, context)
  throw requestGone()
}

/** Consumes the ticket after an error. The same error may be sent twice. */
export async function endRequest(ticket: string | null, context: ServerContext): Promise<void> {
  if (ticket !== null) await context.storage.tickets.take(ticket)
}

export function requestGone(): InvalidRequestUri {
  return new InvalidRequestUri(
    'This request is unknown, was answered before, or has waited too long',
    {
      hint: 'Go back to the application and start again',
    },
  )
}

/**
 * Adds the ticket to the details of an interaction. They are separated again by `splitTicket()`.
 */
export function withTicket(
  details: GrantDetails | null,
  ticket: string | null,
): GrantDetails | null {
  if (ticket === null) return details
  return details === null ? { ticket, ticketOnly: true } : { ...details, ticket }
}

export function splitTicket(kept: GrantDetails | null): {
  readonly ticket: string | null
  readonly details: GrantDetails | null
} {
  if (kept?.ticket === undefined) return { ticket: null, details: kept }
  const { ticket, ticketOnly, ...details } = kept
  // Empty details differ from `null`: a feature has read the request and found nothing to store.
  return { ticket, details: ticketOnly ? null : details }
}
