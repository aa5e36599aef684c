import type { HttpResponse } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import { redirectResponse } from '../http/responses.ts'
import { renderFormPostPage } from '../pages/form-post.ts'
import type { PageText } from '../pages/messages/messages.ts'

/**
 * How the response reaches the client (OAuth 2.0 Multiple Response Types §2.1, OAuth 2.0 Form Post
 * Response Mode §2).
 */
export type ResponseMode = 'query' | 'fragment' | 'form_post'

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** Functions that create the authorization response, by response mode. */
export const responseModes: Readonly<
  Record<ResponseMode, (redirectTo: string, pairs: Pairs, t: PageText) => HttpResponse>
> = {
  query: (redirectTo, pairs) => redirectResponse(withQuery(redirectTo, pairs)),
  fragment: (redirectTo, pairs) => redirectResponse(`${redirectTo}#${encodePairs(pairs)}`),
  form_post: renderFormPostPage,
}

function withQuery(redirectTo: string, pairs: Pairs): string {
  return `${redirectTo}${redirectTo.includes('?') ? '&' : '?'}${encodePairs(pairs)}`
}

function encodePairs(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** Reads the parameter `response_mode`. Returns `defaultMode` if it was not sent. */
export function readResponseMode(
  params: Form,
  defaultMode: ResponseMode,
  redirectTo: string,
): ResponseMode {
  const name = params.get('response_mode')
  if (name === undefined) return defaultMode
  if (!isResponseMode(name)) {
    throw new InvalidRequest(
      `response_mode must be one of ${Object.keys(responseModes).join(', ')}`,
    )
  }
  // Multiple Response Types §2.1: a token in the query would end up in logs and Referer headers.
  if (defaultMode === 'fragment' && name === 'query') {
    throw new InvalidRequest(
      'response_mode=query is not allowed for responses that contain a token',
    )
  }
  // A form cannot be posted to an app's own scheme: the person would see an empty page.
  if (name === 'form_post' && !/^https?:/.test(redirectTo)) {
    throw new InvalidRequest('response_mode=form_post needs an http or https redirect_uri')
  }
  return name
}

/**
 * Reads the parameter `response_mode`. Returns `usual` if it is missing or invalid. For error
 * responses, which must be sent in either case.
 */
export function readResponseModeOrDefault(
  params: Form,
  usual: ResponseMode,
  redirectTo: string,
): ResponseMode {
  try {
    return readResponseMode(params, usual, redirectTo)
  } catch {
    return usual
  }
}

function isResponseMode(name: string): name is ResponseMode {
  return Object.hasOwn(responseModes, name)
}
