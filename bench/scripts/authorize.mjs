import { formatRequest } from '../connection.mjs'
import { pkce, redirectUri, scope } from '../fixtures.mjs'
import { checkFormat, parseTokens, prepareTokenRequest, readSeed } from './token-request.mjs'

/**
 * A browser with a session and an existing consent requests a code, and the client exchanges it.
 */
export function authorize(seed, row, index) {
  const { paths, client } = readSeed(seed)
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: seed.scope ?? scope,
    state: 'state',
    ...(row.workload === 'openid' && { nonce: 'nonce' }),
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...seed.authorizeParameters,
  })
  const headers = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' }
  const cookie = seed.cookies?.[row.oneUser ? 0 : index % seed.cookies.length]
  if (cookie) headers.Cookie = cookie
  const authorization = formatRequest('GET', `${paths.authorize}?${query}`, headers)
  const exchange = prepareTokenRequest(
    seed,
    {
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code_verifier: pkce.verifier,
    },
    'code',
  )
  let code = null
  let checked = false
  return {
    tokens: null,
    /** A code left over from the last round may have expired. */
    begin() {
      code = null
    },
    request: () => (code === null ? authorization : exchange(code)),
    check(response) {
      if (code === null) {
        code = parseCode(response)
        return 0
      }
      code = null
      this.tokens = parseTokens(response)
      if (!checked) checkFormat(seed, row.format, this.tokens.access_token)
      checked = true
      return 1
    },
  }
}

export function parseCode({ status, head, body }) {
  const location = /\r\nlocation: *(\S+)/i.exec(head)?.[1] ?? ''
  const code = /[?&]code=([^&]+)/.exec(location)?.[1]
  if ((status !== 302 && status !== 303) || !location.startsWith(redirectUri) || !code)
    throw new Error(`No code: ${status} ${location} ${body.slice(0, 300)}`)
  return decodeURIComponent(code)
}
