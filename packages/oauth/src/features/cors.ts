import { createOriginReader, type OriginReader } from '../clients/client-origins.ts'
import { isOrigin } from '../clients/settings/checks.ts'
import type { ServerContext } from '../context.ts'
import type { CrossOriginPolicy, CrossOriginTarget, Feature } from './feature.ts'

/** Options of `cors()`. */
export interface CorsOptions {
  /**
   * Origins to allow in addition to those of registered clients, such as
   * `https://docs.example.com`.
   * @default []
   */
  readonly origins?: readonly string[]
  /**
   * Request headers to allow in addition to `Authorization`, `Content-Type` and `DPoP`.
   * @default []
   */
  readonly requestHeaders?: readonly string[]
  /**
   * Response headers that pages may read in addition to `WWW-Authenticate` and `DPoP-Nonce`.
   * @default []
   */
  readonly responseHeaders?: readonly string[]
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * Allows pages on other origins (CORS). Pages of registered clients may call the token, revocation,
 * UserInfo and further endpoints, and your guarded routes through the adapters' `cors()`. Cookies
 * are never allowed.
 * @example
 * createAuthorizationServer({ …, features: [cors({ origins: ['https://docs.example.com'] })] })
 */
export function cors(options: CorsOptions = {}): Feature {
  const { origins = [], requestHeaders = [], responseHeaders = [] } = options
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) {
    throw new TypeError(`cors: origins has '${wrong}', which should look like https://example.com.`)
  }
  const noHeader = [...requestHeaders, ...responseHeaders].find((name) => !TOKEN.test(name))
  if (noHeader !== undefined) throw new TypeError(`cors: '${noHeader}' is not a header name.`)
  const listed = new Set(origins)
  const readers = new WeakMap<ServerContext, OriginReader>()

  function readerOf(context: ServerContext): OriginReader {
    const known = readers.get(context)
    if (known) return known
    const reader = createOriginReader(context)
    context.feed.onNotice('client', reader.forget)
    context.feed.onNotice('client-changed', reader.forget)
    context.feed.onBreak(reader.forget)
    readers.set(context, reader)
    return reader
  }

  async function readAgain(
    origin: string,
    place: CrossOriginTarget,
    context: ServerContext,
  ): Promise<boolean> {
    try {
      return originsFor(await readerOf(context).read(), place).has(origin)
    } catch (error) {
      context.logger.error(
        'The allowed origins could not be read, so a cross-origin request was denied',
        error,
      )
      return false
    }
  }

  const crossOrigin: CrossOriginPolicy = {
    allows(origin, place, context: ServerContext) {
      if (listed.has(origin)) return true
      const known = readerOf(context).known()
      if (known && originsFor(known, place).has(origin)) return true
      return readAgain(origin, place, context)
    },
    requestHeaders: ['authorization', 'content-type', 'dpop', ...requestHeaders],
    responseHeaders: ['www-authenticate', 'dpop-nonce', ...responseHeaders],
  }
  return {
    name: 'cors',
    crossOrigin,
    start(context: ServerContext) {
      readerOf(context)
      return () => {}
    },
  }
}

/**
 * Returns the client origins that may call the target. A client that registered itself chose its
 * own origin, so it may not call the application's routes.
 */
function originsFor(
  origins: { readonly all: ReadonlySet<string>; readonly trusted: ReadonlySet<string> },
  place: CrossOriginTarget,
): ReadonlySet<string> {
  return place === 'guarded' ? origins.trusted : origins.all
}
