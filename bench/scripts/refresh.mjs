import { authorize } from './authorize.mjs'
import { parseTokens, prepareTokenRequest } from './token-request.mjs'

/** A chain per connection: each refresh uses the refresh token of the previous response. */
export function refresh(seed, row, index) {
  const first = authorize(seed, row, index)
  const refreshWith = prepareTokenRequest(seed, { grant_type: 'refresh_token' }, 'refresh_token')
  let current = null
  return {
    request() {
      return current === null ? first.request() : refreshWith(current)
    },
    check(response) {
      if (current === null) {
        if (first.check(response) === 0) return 0
        current = requireRefreshToken(first.tokens)
        return 0
      }
      const next = requireRefreshToken(parseTokens(response))
      if (next === current && !seed.constant) throw new Error('The refresh token was not rotated')
      current = next
      return 1
    },
  }
}

function requireRefreshToken(tokens) {
  if (!tokens.refresh_token) throw new Error('No refresh token was issued')
  return tokens.refresh_token
}
