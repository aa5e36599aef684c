import { createPinnedRequest, NotFetched, type OutgoingSettings } from '@tollgate/http/outgoing'
import * as oauth from 'oauth4webapi'
import { type ProviderTools, UpstreamFailure } from './provider.ts'

/** Largest accepted response, in bytes. Documents of providers have a few thousand. */
const MAX_BYTES = 256 * 1024

/** Creates a `fetch` that reaches public addresses only, with a timeout and a limit on the size. */
export function createProviderFetch(settings: OutgoingSettings): ProviderTools['fetch'] {
  const send = createPinnedRequest(settings)
  return async (url, { method, headers, body }) => {
    try {
      const response = await send(new URL(url), {
        method,
        headers,
        ...(body ? { body } : {}),
        maxBytes: MAX_BYTES,
        allowPlainHttp: true,
      })
      if (response.status >= 500 || response.status === 429) {
        throw new UpstreamFailure('unavailable', `${hostOf(url)} responded ${response.status}`)
      }
      return new Response(new Uint8Array(response.body), {
        status: response.status,
        headers: { 'content-type': response.header('content-type') ?? '' },
      })
    } catch (error) {
      if (!(error instanceof NotFetched)) throw error
      throw new UpstreamFailure('unavailable', `${hostOf(url)}: ${error.message}`)
    }
  }
}

const hostOf = (url: string) => new URL(url).host

/** Options of `oauth4webapi` for requests to a provider. */
export function requestOptions({ fetch }: ProviderTools, issuer: string) {
  return {
    [oauth.customFetch]: (
      url: string,
      { method, headers, body }: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
    ) => fetch(url, { method: method as 'GET', headers, body: body ? String(body) : null }),
    // Plain http reaches only addresses that the operator has allowed.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  }
}

/**
 * Runs the steps of a sign-in, and turns errors of `oauth4webapi` into an `UpstreamFailure`. Only the
 * library's own message is kept: the causes contain codes and tokens.
 */
export async function asUpstreamFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code } = error
      const isCancelled = CANCELLED.includes(code)
      const isAway = code === 'temporarily_unavailable' || code === 'server_error'
      const reason = isCancelled ? 'cancelled' : isAway ? 'unavailable' : 'invalid'
      throw new UpstreamFailure(reason, `The provider responded with the error ${quote(code)}`)
    }
    if (error instanceof oauth.ResponseBodyError) {
      throw new UpstreamFailure('invalid', `The provider refused the code: ${quote(error.error)}`)
    }
    if (isLibraryError(error)) throw new UpstreamFailure('invalid', error.message)
    throw error
  }
}

const CANCELLED: readonly string[] = ['access_denied', 'user_cancelled_authorize']

const quote = (text: string) => JSON.stringify(text.slice(0, 100))

function isLibraryError(error: unknown): error is Error {
  return (
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.UnsupportedOperationError ||
    error instanceof oauth.WWWAuthenticateChallengeError ||
    (error instanceof TypeError && 'code' in error)
  )
}
