import { formatRequest } from '../connection.mjs'
import { authorize } from './authorize.mjs'
import { readSeed } from './token-request.mjs'

/** Each connection signs in once, then requests UserInfo. */
export function userinfo(seed, row, index) {
  const { paths } = readSeed(seed)
  const flow = authorize(seed, { ...row, format: seed.userinfoFormat ?? row.format }, index)
  let request = null
  return {
    request: () => request ?? flow.request(),
    check(response) {
      if (request === null) {
        if (flow.check(response) === 0) return 0
        const authorization = `Bearer ${flow.tokens.access_token}`
        request = formatRequest('GET', paths.userinfo, { Authorization: authorization })
        return 0
      }
      checkClaims(response)
      return 1
    },
  }
}

export function checkClaims({ status, body }) {
  if (status !== 200 || !body.includes('"sub":"') || !body.includes('"email":"'))
    throw new Error(`UserInfo answered ${status}: ${body.slice(0, 300)}`)
}
