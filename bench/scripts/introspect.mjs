import { formatRequest } from '../connection.mjs'
import { formatClientCredentials, parseTokens, readSeed } from './token-request.mjs'

const tokensEach = 16

/** Introspects tokens that the client got before the measurement. */
export function introspect(seed) {
  const { paths, authorization } = readSeed(seed)
  const issue = formatClientCredentials(seed)
  const requests = []
  let turn = 0
  return {
    request() {
      if (requests.length < tokensEach) return issue
      return requests[turn++ % tokensEach]
    },
    check(response) {
      if (requests.length < tokensEach) {
        const token = parseTokens(response).access_token
        const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString()
        requests.push(formatRequest('POST', paths.introspect, authorization, body))
        return 0
      }
      if (response.status !== 200 || !response.body.includes('"active":true'))
        throw new Error(`Not active: ${response.status} ${response.body.slice(0, 300)}`)
      return 1
    },
  }
}
