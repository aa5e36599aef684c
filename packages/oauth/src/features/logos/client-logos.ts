import type { HttpResponse } from '@tollgate/http'
import { NotFetched } from '@tollgate/http/outgoing'
import { createRecentCache } from '../../caches/recent-cache.ts'
import { isVerifiedClient } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { NotFound } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { Feature } from '../feature.ts'

const CACHE_SIZE = 50
const CACHE_SECONDS = 3600
const FAILURE_CACHE_SECONDS = 60

interface Known {
  readonly picture: Picture | null
  readonly until: number
}

/**
 * Shows the logos of clients on the approval screen. The server fetches them under the rules of the
 * option `outgoing` and serves them, so that browsers load nothing from elsewhere. Shows only
 * bitmaps, and only for clients that you registered or verified.
 * @example
 * createAuthorizationServer({ …, features: [clientLogos()] })
 */
export function clientLogos(): Feature {
  const known = createRecentCache<Known>(CACHE_SIZE)
  const inProgress = new Map<string, Promise<Picture | null>>()

  /** Shares one request among concurrent callers for the same URL. */
  function pictureAt(address: string, context: ServerContext): Promise<Picture | null> {
    const before = known.get(address)
    if (before && before.until > context.clock.now().getTime()) {
      return Promise.resolve(before.picture)
    }
    const running = inProgress.get(address)
    if (running) return running
    const fetching = fetchPicture(address, context)
      .then((picture) => {
        const seconds = picture ? CACHE_SECONDS : FAILURE_CACHE_SECONDS
        known.set(address, { picture, until: context.clock.now().getTime() + seconds * 1000 })
        return picture
      })
      .finally(() => inProgress.delete(address))
    inProgress.set(address, fetching)
    return fetching
  }

  return {
    name: 'clientLogos',
    routes: [
      {
        method: 'GET',
        path: '/logos/{id}',
        async endpoint(_request, context: ServerContext, id) {
          const client = await context.clients.find(id)
          const address = client && logoOf(client)
          const picture = address ? await pictureAt(address, context) : null
          if (!picture) throw new NotFound('There is no logo.')
          return response(picture)
        },
      },
    ],
    logoPath: (client, { options: { basePath } }: ServerContext) =>
      logoOf(client) === null ? null : `${basePath}/logos/${client.id}`,
  }
}

/**
 * Returns the logo URL of a verified client. A logo is more convincing than a name, so an
 * unverified client must not show a borrowed one.
 */
function logoOf(client: Client): string | null {
  return isVerifiedClient(client) ? (client.settings.logo_uri ?? null) : null
}

/** Creates the response. Its headers forbid script, in case a browser opens the URL directly. */
function response({ type, content }: Picture): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': `private, max-age=${CACHE_SECONDS}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
    body: content,
  }
}

/** A bitmap, and its detected type. */
interface Picture {
  readonly type: string
  readonly content: Uint8Array<ArrayBuffer>
}

const MAX_BYTES = 200 * 1024

/**
 * Detects types by the first bytes, because the content type sent by the server proves nothing.
 * None of these can contain script, unlike SVG.
 */
const KINDS: Readonly<Record<string, (start: string) => boolean>> = {
  'image/png': (start) => start.startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': (start) => start.startsWith('\xff\xd8\xff'),
  'image/gif': (start) => start.startsWith('GIF87a') || start.startsWith('GIF89a'),
  'image/webp': (start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8),
}

/** Fetches a logo. Returns `null` if it cannot be fetched or is not a bitmap. */
async function fetchPicture(
  address: string,
  { outgoing, logger }: ServerContext,
): Promise<Picture | null> {
  try {
    const accept = Object.keys(KINDS).join(', ')
    const request = { method: 'GET', headers: { accept }, maxBytes: MAX_BYTES } as const
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
