import type { HttpResponse } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import { formPostPage } from '../http/form-post.ts'
import { redirect } from '../http/responses.ts'

/** OAuth 2.0 Multiple Response Types §2.1, OAuth 2.0 Form Post Response Mode §2. */
export type ResponseMode = 'query' | 'fragment' | 'form_post'

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** How each takes the answer to the client. */
export const responseModes: Readonly<
  Record<ResponseMode, (redirectTo: string, pairs: Pairs) => HttpResponse>
> = {
  query: (redirectTo, pairs) => redirect(withQuery(redirectTo, pairs)),
  fragment: (redirectTo, pairs) => redirect(`${redirectTo}#${encodePairs(pairs)}`),
  form_post: formPostPage,
}

function withQuery(redirectTo: string, pairs: Pairs): string {
  return `${redirectTo}${redirectTo.includes('?') ? '&' : '?'}${encodePairs(pairs)}`
}

function encodePairs(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** What the request asks for; `usual` where it says nothing. */
export function readResponseMode(
  params: Form,
  usual: ResponseMode,
  redirectTo: string,
): ResponseMode {
  const name = params.get('response_mode')
  if (name === undefined) return usual
  if (!isResponseMode(name)) {
    throw new InvalidRequest(`response_mode must be ${Object.keys(responseModes).join(', ')}`)
  }
  // Multiple Response Types §2.1: a token in a query ends up in logs and referrers.
  if (usual === 'fragment' && name === 'query') {
    throw new InvalidRequest('response_mode=query is not for responses that hold a token')
  }
  // No form reaches an app by its own scheme: the person would be left with an empty page.
  if (name === 'form_post' && !/^https?:/.test(redirectTo)) {
    throw new InvalidRequest('response_mode=form_post needs a redirect_uri of the web')
  }
  return name
}

/** The same for errors, which must reach the client even if the mode is what is wrong. */
export function responseModeOr(
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
