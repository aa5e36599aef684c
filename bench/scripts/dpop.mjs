import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { formatRequest } from '../connection.mjs'
import { issuer, scope } from '../fixtures.mjs'
import { authorize } from './authorize.mjs'
import { parseTokens, readSeed } from './token-request.mjs'
import { checkClaims } from './userinfo.mjs'

/** Requests tokens by client credentials with a new DPoP proof each time. */
export function dpop(seed) {
  const { paths, authorization, extra } = readSeed(seed)
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope, ...extra }).toString()
  const prove = createProver('POST', addressOf(seed, paths.token))
  return {
    request: () => formatRequest('POST', paths.token, { ...authorization, DPoP: prove() }, body),
    check(response) {
      if (parseTokens(response).token_type !== 'DPoP') throw new Error('The token has no key')
      return 1
    },
  }
}

/**
 * Requests UserInfo with a token that is bound to a key: a guarded route that verifies the proof.
 */
export function dpopUserinfo(seed, row, index) {
  const { paths } = readSeed(seed)
  const flow = authorize(seed, { ...row, format: seed.userinfoFormat ?? row.format }, index)
  const key = newKey()
  const proveToken = createProver('POST', addressOf(seed, paths.token), key)
  let make = null
  return {
    request() {
      if (make) return make()
      const request = flow.request()
      if (!request.startsWith('POST')) return request
      return request.replace('\r\n', `\r\nDPoP: ${proveToken()}\r\n`)
    },
    check(response) {
      if (make) {
        checkClaims(response)
        return 1
      }
      if (flow.check(response) === 0) return 0
      const { access_token: token, token_type: type } = flow.tokens
      if (type !== 'DPoP') throw new Error('The token has no key')
      const prove = createProver('GET', addressOf(seed, paths.userinfo), key, token)
      make = () =>
        formatRequest('GET', paths.userinfo, { Authorization: `DPoP ${token}`, DPoP: prove() })
      return 0
    },
  }
}

/**
 * URL by which the server knows itself. Some servers derive it from the request, some from their
 * settings.
 */
const addressOf = (seed, path) => `${seed.origin ?? issuer}${path}`

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  return { privateKey, header: encode({ alg: 'ES256', typ: 'dpop+jwt', jwk }) }
}

/**
 * Returns a function that creates a new proof each time (RFC 9449 §4.2).
 * @returns {() => string}
 */
function createProver(htm, htu, { privateKey, header } = newKey(), token = null) {
  const ath = token && createHash('sha256').update(token).digest('base64url')
  return () => {
    const iat = Math.floor(Date.now() / 1000)
    const claims = { jti: randomUUID(), htm, htu, iat, ...(ath && { ath }) }
    const input = `${header}.${encode(claims)}`
    const signing = { key: privateKey, dsaEncoding: 'ieee-p1363' }
    return `${input}.${sign('sha256', Buffer.from(input), signing).toString('base64url')}`
  }
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
