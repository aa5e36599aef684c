import type { ServerContext } from '../context.ts'
import { ticketQuotas } from '../limits/policies.ts'
import type { RatePolicy, TicketQuota } from '../limits/resources.ts'
import type { Client, Ticket } from '../storage/records.ts'

/**
 * Stores a ticket that counts against the quota opened by `openRequestQuota()`. Returns `false` if
 * the hash of the ticket is taken.
 */
export type StoreCountedTicket = (ticket: Omit<Ticket, 'holder'>) => Promise<boolean>

/**
 * Chooses the quota that the stored requests of a client count against, and returns a function that
 * stores a request. Requests of public and self-registered clients count against the sender's
 * network, because anyone can send them. Every other client has a quota of its own.
 * @throws TooManyRequests if the network has sent too many requests
 */
export async function openRequestQuota(
  client: Client,
  { rate, share }: { readonly rate: RatePolicy; readonly share: TicketQuota },
  { resources, network }: ServerContext,
): Promise<StoreCountedTicket> {
  if (client.confidential && client.settings.self_registered === undefined) {
    return (ticket) =>
      resources.add(
        { ...ticket, kind: `${ticket.kind} of client` },
        ticketQuotas.ofProvenClient,
        client.id,
      )
  }
  await resources.count(rate, network)
  return (ticket) => resources.add(ticket, share, network)
}
