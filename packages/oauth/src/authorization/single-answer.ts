import type { ServerContext } from '../context.ts'
import { InvalidRequestUri } from '../errors.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'
import { revokeTokens } from '../tokens/revoke.ts'

/**
 * Of all who would answer a request that has a ticket, one may. It is asked for last, when the answer is
 * stored and nobody has been told of it: a person whose page was loaded twice, or whose database was away for
 * a moment, has lost nothing. A code that nobody was told is worth nothing; a token is ended.
 */
export async function claimAnswer(
  ticket: string | null,
  token: Token | undefined,
  context: ServerContext,
): Promise<void> {
  if (ticket === null || (await context.storage.tickets.take(ticket))) return
  if (token) await revokeTokens({ id: token.id }, context)
  throw answeredBefore()
}

/** An error was the answer. It may be told twice. */
export async function endRequest(ticket: string | null, context: ServerContext): Promise<void> {
  if (ticket !== null) await context.storage.tickets.take(ticket)
}

export function answeredBefore(): InvalidRequestUri {
  return new InvalidRequestUri(
    'This request is unknown, was answered before, or has waited too long',
    {
      hint: 'Go back to the application and start again',
    },
  )
}

/** While a person decides, the interaction knows of the ticket; what comes of it does not. */
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
  // Empty ones are not none: a feature has read the request and found nothing to write down.
  return { ticket, details: ticketOnly ? null : details }
}
