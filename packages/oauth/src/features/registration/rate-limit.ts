import type { ServerContext } from '../../context.ts'
import { TooManyRequests } from '../../errors.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'

const MINUTE = 60_000
/** Each try that led to nothing means that somebody else was counted. */
const MOST_TRIES = 10

export interface Place {
  /** What is counted. */
  readonly kind: string
  readonly caller: string
  readonly perMinute: number
}

/** Counts one more in this minute, on all processes together. TooManyRequests when there were enough. */
export async function claimPlace(
  { kind, caller, perMinute }: Place,
  { clock, storage: { tickets } }: ServerContext,
): Promise<void> {
  const minute = Math.floor(clock.now().getTime() / MINUTE)
  const hash = ticketHash(kind, `${minute}\n${caller}`)
  const expiresAt = new Date((minute + 1) * MINUTE)
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (await tickets.add({ hash, kind, content: '1', expiresAt })) return
    const count = (await tickets.find(hash))?.content
    if (count === undefined) continue
    if (Number(count) >= perMinute) break
    if (await tickets.change(hash, count, String(Number(count) + 1))) return
  }
  throw new TooManyRequests('Too many clients have come in this minute')
}
