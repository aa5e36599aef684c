import { sha256 } from '../crypto.ts'
import type { TicketRepository } from './repositories.ts'

/** By its kind as well, so a name given for one purpose opens nothing of another. */
export function ticketHash(kind: string, name: string): string {
  return sha256(`${kind}\n${name}`)
}

/**
 * Claims a name that counts once, such as the `jti` of an assertion, by the one insert that succeeds on any process.
 * False if it was claimed before.
 */
export function claimOnce(
  tickets: TicketRepository,
  {
    kind,
    name,
    expiresAt,
  }: { readonly kind: string; readonly name: string; readonly expiresAt: Date },
): Promise<boolean> {
  return tickets.add({ hash: ticketHash(kind, name), kind, content: '{}', expiresAt, holder: null })
}
