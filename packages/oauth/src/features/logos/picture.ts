import { NotFetched } from '@tollgate/http/outgoing'
import type { ServerContext } from '../../context.ts'

/** A bitmap, and what it really is. */
export interface Picture {
  readonly type: string
  readonly content: Uint8Array<ArrayBuffer>
}

const LARGEST = 200 * 1024

/** By their first bytes: what a server says of a file proves nothing. None of these holds script, as SVG does. */
const KINDS: Readonly<Record<string, (start: string) => boolean>> = {
  'image/png': (start) => start.startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': (start) => start.startsWith('\xff\xd8\xff'),
  'image/gif': (start) => start.startsWith('GIF87a') || start.startsWith('GIF89a'),
  'image/webp': (start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8),
}

/** Null when there is none to be had, or it is no bitmap. */
export async function fetchPicture(
  address: string,
  { outgoing, logger }: ServerContext,
): Promise<Picture | null> {
  try {
    const accept = Object.keys(KINDS).join(', ')
    const request = { method: 'GET', headers: { accept }, largest: LARGEST } as const
    const { status, body } = await outgoing.send(new URL(address), request)
    const type = status === 200 ? typeOf(body) : null
    return type === null ? null : { type, content: Uint8Array.from(body) }
  } catch (error) {
    if (!(error instanceof NotFetched)) throw error
    logger.warn(`The logo of a client cannot be fetched: ${error.message}`)
    return null
  }
}

function typeOf(body: Buffer): string | null {
  const start = body.subarray(0, 16).toString('latin1')
  return Object.keys(KINDS).find((type) => KINDS[type]?.(start)) ?? null
}
