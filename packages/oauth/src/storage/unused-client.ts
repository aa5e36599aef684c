import type { Ticket } from './records.ts'
import { ticketHash } from './ticket-hash.ts'

/**
 * The kind of tickets that stand for clients which go when they are not used until the ticket ends. Whoever purges
 * the ticket deletes the client, if its settings have still the same `unused_until`.
 */
export const UNUSED_CLIENT = 'unused client'

/** Which client, and the `unused_until` that it must still have. */
export interface UnusedClient {
  /** Its id. */
  readonly clientId: string
  /** In milliseconds. */
  readonly until: number
}

export function unusedTicket(unused: UnusedClient): Omit<Ticket, 'holder'> {
  return {
    hash: ticketHash(UNUSED_CLIENT, `${unused.clientId}\n${unused.until}`),
    kind: UNUSED_CLIENT,
    content: JSON.stringify(unused),
    expiresAt: new Date(unused.until),
  }
}

/** What such a ticket says. */
export function parseUnused({ content }: Pick<Ticket, 'content'>): UnusedClient {
  const { clientId, until } = JSON.parse(content) as UnusedClient
  return { clientId, until }
}
