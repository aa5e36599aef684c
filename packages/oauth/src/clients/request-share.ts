import type { ServerContext } from '../context.ts'
import { shares } from '../limits/policies.ts'
import type { RatePolicy, SharePolicy } from '../limits/resources.ts'
import type { Client, Ticket } from '../storage/records.ts'

/** Adds a ticket to an opened share. Returns `false` if its hash is taken. */
export type AddTicket = (ticket: Omit<Ticket, 'holder'>) => Promise<boolean>

/**
 * Opens the share that a client's stored requests count against. Anyone can send requests for
 * clients without a secret, and anyone can register a client, so those count against the sender's
 * network. Every other client has its own share, which only its own requests fill.
 * @throws TooManyRequests if the network exceeds the rate
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
