import { formatRequest } from '../connection.mjs'
import { pkce, redirectUri, scope } from '../fixtures.mjs'
import { parseCode } from './authorize.mjs'
import { parseTokens, prepareTokenRequest, readSeed } from './token-request.mjs'

/**
 * The client pushes its request, the browser presents its request URI, and the client exchanges the
 * code.
 */
export function pushed(seed, _row, index) {
  const { paths, client, authorization } = readSeed(seed)
  const form = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: seed.scope ?? scope,
    state: 'state',
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...seed.authorizeParameters,
  })
  const push = formatRequest('POST', paths.pushed, authorization, form.toString())
  const headers = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' }
  const cookie = seed.cookies?.[index % seed.cookies.length]
  if (cookie) headers.Cookie = cookie
  const exchange = prepareTokenRequest(
    seed,
    { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: pkce.verifier },
    'code',
  )
  const begin = { next: push, check: takePushed }
  let step = begin

  function takePushed({ status, body }) {
    const uri = status === 201 ? JSON.parse(body).request_uri : null
    if (!uri) throw new Error(`Not pushed: ${status} ${body.slice(0, 300)}`)
    const query = new URLSearchParams({ client_id: client.id, request_uri: uri })
    const next = formatRequest('GET', `${paths.authorize}?${query}`, headers)
    step = { next, check: takeCode }
    return 0
  }

  function takeCode(response) {
    step = { next: exchange(parseCode(response)), check: takeTokens }
    return 0
  }

  function takeTokens(response) {
    parseTokens(response)
    step = begin
    return 1
  }

  return {
    begin() {
      step = begin
    },
    request: () => step.next,
    check: (response) => step.check(response),
  }
}
