import { checkFormat, formatClientCredentials, parseTokens } from './token-request.mjs'

/** Requests tokens by client credentials. */
export function issue(seed, row) {
  const request = formatClientCredentials(seed)
  let checked = false
  return {
    request: () => request,
    check(response) {
      if (!checked) {
        checkFormat(seed, row.format, parseTokens(response).access_token)
        checked = true
      }
      if (response.status !== 200 || !response.body.includes('"access_token":"'))
        parseTokens(response)
      return 1
    },
  }
}
