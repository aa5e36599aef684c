import type { HttpResponse } from '@tollgate/http'
import { createRecentCache } from '../../caches/recent-cache.ts'
import { isVerified } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { NotFound } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { Feature } from '../feature.ts'
import { fetchPicture, type Picture } from './picture.ts'

const REMEMBERED = 50
const KEPT_SECONDS = 3600
const FAILURE_KEPT_SECONDS = 60

interface Known {
  readonly picture: Picture | null
  readonly until: number
}

/**
 * Shows the logos of clients on the approval screen. They are fetched by the server under the rules of
 * `outgoing` and sent from here: a browser never asks elsewhere. Bitmaps only, and only of clients that you have
 * registered or verified.
 * @example
 * createAuthorizationServer({ …, features: [clientLogos()] })
 */
export function clientLogos(): Feature {
  const known = createRecentCache<Known>(REMEMBERED)
  const underWay = new Map<string, Promise<Picture | null>>()

  /** All who ask for the same at once share one request. */
  function pictureAt(address: string, context: ServerContext): Promise<Picture | null> {
    const before = known.get(address)
    if (before && before.until > context.clock.now().getTime()) {
      return Promise.resolve(before.picture)
    }
    const running = underWay.get(address)
    if (running) return running
    const fetching = fetchPicture(address, context)
      .then((picture) => {
        const seconds = picture ? KEPT_SECONDS : FAILURE_KEPT_SECONDS
        known.set(address, { picture, until: context.clock.now().getTime() + seconds * 1000 })
        return picture
      })
      .finally(() => underWay.delete(address))
    underWay.set(address, fetching)
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

/** A picture says more than a name: whom nobody here has looked at may not borrow somebody else's. */
function logoOf(client: Client): string | null {
  return isVerified(client) ? (client.settings.logo_uri ?? null) : null
}

/** Should a browser be sent here directly, nothing in it may run. */
function response({ type, content }: Picture): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': `private, max-age=${KEPT_SECONDS}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
    body: content,
  }
}
