import { sha256 } from '../crypto.ts'
import type { Ticket } from './records.ts'
import type { TicketRepository } from './repositories.ts'

/**
 * Hashes the secret or unique name of a ticket together with its kind, so that a ticket of one kind
 * is never found as another.
 */
export function hashTicketName(kind: string, name: string): string {
  return sha256(`${kind}\n${name}`)
}

/**
 * Claims a name that may be used only once, such as the `jti` of an assertion, by an insert that
 * only one process can win. Returns `false` if it was claimed before.
 */
export function claimTicketOnce(
  tickets: TicketRepository,
  {
    kind,
    name,
    expiresAt,
  }: { readonly kind: string; readonly name: string; readonly expiresAt: Date },
): Promise<boolean> {
  return tickets.add({
    hash: hashTicketName(kind, name),
    kind,
    content: '{}',
    expiresAt,
    holder: null,
  })
}

/**
 * Kind of tickets for self-registered clients that have not been used yet. Deleting an expired
 * ticket also deletes its client, if the client's settings still have the same `unused_until`.
 */
export const UNUSED_CLIENT = 'unused client'

/** The content of an `UNUSED_CLIENT` ticket. */
export interface UnusedClient {
  /** Id of the client. */
  readonly clientId: string
  /** The `unused_until` that the client must still have, in milliseconds. */
  readonly until: number
}

export function createUnusedClientTicket(unused: UnusedClient): Omit<Ticket, 'holder'> {
  return {
    hash: hashTicketName(UNUSED_CLIENT, `${unused.clientId}\n${unused.until}`),
    kind: UNUSED_CLIENT,
    content: JSON.stringify(unused),
    expiresAt: new Date(unused.until),
  }
}

/** Parses the content of an `UNUSED_CLIENT` ticket. */
export function parseUnusedClient({ content }: Pick<Ticket, 'content'>): UnusedClient {
  const { clientId, until } = JSON.parse(content) as UnusedClient
  return { clientId, until }
}
