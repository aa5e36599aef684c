import { createOriginReader, type OriginReader } from '../clients/client-origins.ts'
import { isOrigin } from '../clients/settings/checks.ts'
import type { ServerContext } from '../context.ts'
import type { CalledPlace, CrossOriginPolicy, Feature } from './feature.ts'

/** What `cors()` is made with. */
export interface CorsOptions {
  /** Origins beside those of registered clients, such as `https://docs.example.com`. */
  readonly origins?: readonly string[]
  /** Headers that pages may send beside `Authorization`, `Content-Type` and `DPoP`. */
  readonly requestHeaders?: readonly string[]
  /** Headers that pages may read beside `WWW-Authenticate` and `DPoP-Nonce`. */
  readonly responseHeaders?: readonly string[]
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * Browsers on other origins (CORS): pages of registered clients may call the token, revocation, UserInfo and
 * further endpoints, and guarded routes by the adapters' `cors()`. Never with cookies.
 * @example
 * createAuthorizationServer({ …, features: [cors()] })
 */
export function cors(options: CorsOptions = {}): Feature {
  const { origins = [], requestHeaders = [], responseHeaders = [] } = options
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) {
    throw new TypeError(`cors: origins has '${wrong}', which should look like https://example.com.`)
  }
  const noHeader = [...requestHeaders, ...responseHeaders].find((name) => !TOKEN.test(name))
  if (noHeader !== undefined) throw new TypeError(`cors: '${noHeader}' is no name of a header.`)
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
    place: CalledPlace,
    context: ServerContext,
  ): Promise<boolean> {
    try {
      return opensTo(await readerOf(context).read(), place).has(origin)
    } catch (error) {
      context.logger.error('It is not known which origins may call, so none may', error)
      return false
    }
  }

  const crossOrigin: CrossOriginPolicy = {
    allows(origin, place, context: ServerContext) {
      if (listed.has(origin)) return true
      const known = readerOf(context).known()
      if (known && opensTo(known, place).has(origin)) return true
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

/** Whoever registers itself says where it lives: that opens nothing of the application's. */
function opensTo(
  origins: { readonly all: ReadonlySet<string>; readonly vouchedFor: ReadonlySet<string> },
  place: CalledPlace,
): ReadonlySet<string> {
  return place === 'guarded' ? origins.vouchedFor : origins.all
}
