import { formatRequest } from '../connection.mjs'
import { client as defaultClient, paths as defaultPaths, scope } from '../fixtures.mjs'

/**
 * Returns the paths, client and headers to use with a server.
 * @param {object} seed data that the server has sent about itself
 */
export function readSeed(seed) {
  const client = seed.client ?? defaultClient
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
  return {
    paths: { ...defaultPaths, ...seed.paths },
    client,
    authorization: { Authorization: `Basic ${basic}` },
    extra: seed.tokenParameters ?? {},
  }
}

/**
 * Prepares a form POST to the token endpoint with client_secret_basic. Only the value of its last
 * parameter is missing.
 * @returns {(value: string) => string}
 */
export function prepareTokenRequest(seed, parameters, last) {
  const { paths, authorization, extra } = readSeed(seed)
  const form = `${new URLSearchParams({ ...parameters, ...extra })}&${last}=`
  const head = formatRequest('POST', paths.token, authorization, '').replace(/0\r\n\r\n$/, '')
  return (value) => {
    const body = form + encodeURIComponent(value)
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

export const formatClientCredentials = (seed) =>
  prepareTokenRequest(seed, { grant_type: 'client_credentials' }, 'scope')(scope)

/** @returns {Record<string, string>} the token response, which must hold an access token */
export function parseTokens({ status, body }) {
  if (status !== 200)
    throw new Error(`The token endpoint answered ${status}: ${body.slice(0, 300)}`)
  const tokens = JSON.parse(body)
  if (!tokens.access_token) throw new Error(`No access token in ${body.slice(0, 300)}`)
  return tokens
}

/** Checks once that a server issues the kind of token that the row measures. */
export function checkFormat(seed, format, token) {
  if (seed.constant || seed.anyFormat) return
  const dots = token.split('.').length - 1
  if (format === 'opaque' ? dots === 2 : dots !== 2) throw new Error(`Not ${format}: ${token}`)
  if (format === 'opaque') return
  const { alg } = JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString())
  const expected = format === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [format]
  if (!expected.includes(alg)) throw new Error(`Signed with ${alg}, not with ${format}`)
}
