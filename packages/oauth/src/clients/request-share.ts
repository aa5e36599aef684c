import type { ServerContext } from '../context.ts'
import { shares } from '../limits/policies.ts'
import type { RatePolicy, SharePolicy } from '../limits/resources.ts'
import type { Client, Ticket } from '../storage/records.ts'

/** Adds a ticket to the share that was opened; false when there is one with this hash. */
export type AddTicket = (ticket: Omit<Ticket, 'holder'>) => Promise<boolean>

/**
 * Opens the share of whoever sends a request in the name of this client. Anybody can do so for a client without a
 * secret, and anybody can register one: those are counted by network. Any other client has a share of its own, which
 * only its own requests fill.
 */
export async function openRequestShare(
  client: Client,
  { rate, share }: { readonly rate: RatePolicy; readonly share: SharePolicy },
  { resources, network }: ServerContext,
): Promise<AddTicket> {
  if (client.confidential && client.settings.self_registered === undefined) {
    return (ticket) =>
      resources.add(
        { ...ticket, kind: `${ticket.kind} of client` },
        shares.ofProvenClient,
        client.id,
      )
  }
  await resources.count(rate, network)
  return (ticket) => resources.add(ticket, share, network)
}
