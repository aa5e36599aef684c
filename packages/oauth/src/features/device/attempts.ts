import type { ServerContext } from '../../context.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'
import type { Person } from '../../users/users.ts'

const KIND = 'device attempts'
const MOST_ATTEMPTS = 20
const WINDOW = 15 * 60_000
const MOST_LOOKS = 8

/**
 * RFC 8628 §5.1: nobody may try codes for long. Every code that is typed counts before it is looked at, so many
 * at once are not more than one after the other; and it counts for the person, whatever sessions they have.
 * Gives the seconds to wait, or null when the attempt is theirs.
 */
export async function claimAttempt(
  person: Person,
  { clock, storage: { tickets } }: ServerContext,
): Promise<number | null> {
  const now = clock.now().getTime()
  const window = Math.floor(now / WINDOW)
  const expiresAt = new Date((window + 1) * WINDOW)
  const wait = Math.ceil((expiresAt.getTime() - now) / 1000)
  const hash = ticketHash(KIND, `${window}\n${person.id}`)
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const ticket = await tickets.find(hash)
    const used = ticket ? Number(ticket.content) : 0
    if (used >= MOST_ATTEMPTS) return wait
    const content = String(used + 1)
    const claimed = ticket
      ? await tickets.change(hash, ticket.content, content)
      : await tickets.add({ hash, kind: KIND, content, expiresAt })
    if (claimed) return null
  }
  // Only somebody who tries many at once loses as often as this.
  return wait
}
