import { formatRequest } from '../connection.mjs'
import { connections } from '../fixtures.mjs'
import { readSeed } from './token-request.mjs'

/**
 * Requests a guarded route, or an unguarded one for comparison. The connections share the tokens
 * that the server has provided.
 */
export function guarded(seed, { route = 'resource' }, index) {
  const { paths } = readSeed(seed)
  const mine = seed.tokens.filter((_, at) => at % connections === index % seed.tokens.length)
  const requests = mine.map((token) =>
    formatRequest('GET', paths[route], { Authorization: `Bearer ${token}` }),
  )
  let turn = 0
  return {
    request: () => requests[turn++ % requests.length],
    check({ status, body }) {
      if (status !== 200 || !body.includes('"ok":true'))
        throw new Error(`The guarded route answered ${status}: ${body.slice(0, 300)}`)
      return 1
    },
  }
}
