import { authorize } from './authorize.mjs'

/** Like authorize+token with the scope openid, so that the response contains an ID token. */
export function openid(seed, row, index) {
  const flow = authorize(seed, row, index)
  const { check } = flow
  let checked = false
  flow.check = (response) => {
    const units = check.call(flow, response)
    if (units === 0) return 0
    if (!flow.tokens.id_token) throw new Error('There is no ID token')
    if (!checked) checkIdToken(flow.tokens.id_token, row.format)
    checked = true
    return units
  }
  return flow
}

function checkIdToken(token, format) {
  const [header, claims] = token.split('.', 2).map(parse)
  if (header.alg !== format) throw new Error(`The ID token is signed with ${header.alg}`)
  if (claims.nonce !== 'nonce') throw new Error('The ID token has no nonce')
}

const parse = (part) => JSON.parse(Buffer.from(part, 'base64url').toString())
