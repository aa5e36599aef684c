import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** A code that the stand-in has given out, with what its token response contains. */
interface IssuedCode {
  readonly request: URLSearchParams
  /** The claims of the ID token, beside the standard ones. `null` for GitHub. */
  readonly claims: Readonly<Record<string, unknown>>
  readonly token: TokenChanges
}

/** How an ID token differs from a correct one. */
export interface TokenChanges {
  /** Claims that replace the correct ones. `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly algorithm?: 'RS256' | 'none' | 'HS256'
  /** Whether a key that the provider has not published signs it. */
  readonly foreignKey?: boolean
  /** The whole ID token. */
  readonly exact?: string
  /** Whether the response contains no ID token. */
  readonly absent?: boolean
}

/** The issuers of a stand-in, by the first part of their path. */
type Shape = 'openid' | 'second' | 'google' | 'apple' | 'microsoft' | 'github'

export interface StandIn {
  readonly url: string
  /**
   * Approves an authorization request, and returns the response's parameters. `claims` describe the
   * person.
   */
  approve(
    location: string,
    claims: Readonly<Record<string, unknown>>,
    token?: TokenChanges,
  ): URLSearchParams
  /** The forms that the token endpoints have received. */
  readonly received: URLSearchParams[]
  /** The responses of GitHub's API. */
  readonly github: { user: unknown; emails: unknown }
  /** Makes all endpoints fail: with a status, or with no response at all. */
  outage: null | 'silent' | 'redirect' | 'huge' | number
  /** Changes to the discovery document. */
  discovery: Readonly<Record<string, unknown>>
  close(): Promise<void>
}

const TENANT = '{tenantid}'

/**
 * Starts the endpoints of several providers, shaped by their documentation: OpenID providers with
 * discovery, Apple's token endpoint, Microsoft's tenants, and GitHub's API.
 */
export async function startStandIn(now: () => Date): Promise<StandIn> {
  const keys = await generateKeyPair('RS256')
  const foreign = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, IssuedCode>()
  const server = createServer((request, response) => {
    respond(request, response).catch((error) => {
      response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const standIn: StandIn = {
    url,
    received: [],
    github: { user: null, emails: [] },
    outage: null,
    discovery: {},
    approve(location, claims, token = {}) {
      const request = new URL(location).searchParams
      const code = randomBytes(16).toString('base64url')
      codes.set(code, { request, claims, token })
      return new URLSearchParams({ code, state: request.get('state') ?? '' })
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', url)
    const json = (body: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (standIn.outage === 'silent') return
    if (standIn.outage === 'redirect') {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      return
    }
    if (standIn.outage === 'huge') return json({ filler: 'x'.repeat(1_000_000) })
    if (standIn.outage !== null) return json({ error: 'server_error' }, standIn.outage)
    const [, shape = '', ...rest] = pathname.split('/')
    const base = `${url}/${shape}`
    const path = rest.join('/')
    if (path === 'jwks') return json({ keys: [jwk] })
    if (path.endsWith('.well-known/openid-configuration')) {
      const tenant = shape === 'microsoft' ? rest[0] : undefined
      const named = tenant === 'common' || tenant === 'organizations' ? TENANT : tenant
      return json({
        issuer: tenant === undefined ? base : `${base}/${named}/v2.0`,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        jwks_uri: `${base}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...standIn.discovery,
      })
    }
    if (path === 'token' || path === 'login/oauth/access_token') {
      const form = new URLSearchParams(await readBody(request))
      standIn.received.push(form)
      const found = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const verifier = createHash('sha256').update(form.get('code_verifier') ?? '')
      const isRight =
        found?.request.get('code_challenge') === verifier.digest('base64url') &&
        found.request.get('redirect_uri') === form.get('redirect_uri')
      const isGithub = shape === 'github'
      if (!found || !isRight) {
        return json(
          { error: isGithub ? 'bad_verification_code' : 'invalid_grant' },
          isGithub ? 200 : 400,
        )
      }
      const access = { access_token: 'gho_secret-access-token', token_type: 'bearer' }
      if (isGithub) return json({ ...access, scope: 'read:user,user:email' })
      const idToken = found.token.absent ? null : await signIdToken(found, shape as Shape)
      return json({ ...access, expires_in: 3600, ...(idToken && { id_token: idToken }) })
    }
    const isAuthorized = request.headers.authorization === 'Bearer gho_secret-access-token'
    if (path === 'api/v3/user' && isAuthorized) return json(standIn.github.user)
    if (path === 'api/v3/user/emails' && isAuthorized) return json(standIn.github.emails)
    return json({ message: 'Not Found' }, 404)
  }

  async function signIdToken({ request, claims, token }: IssuedCode, shape: Shape) {
    if (token.exact !== undefined) return token.exact
    const at = Math.floor(now().getTime() / 1000)
    const issuer = shape === 'microsoft' ? `${url}/${shape}/${claims.tid}/v2.0` : `${url}/${shape}`
    const payload: JWTPayload = {
      iss: issuer,
      aud: request.get('client_id') ?? '',
      iat: at,
      exp: at + 300,
      nonce: request.get('nonce') ?? undefined,
      ...claims,
      ...token.claims,
    }
    const { algorithm = 'RS256' } = token
    if (algorithm === 'none') {
      const [head, body] = [{ alg: 'none' }, payload].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      )
      return `${head}.${body}.`
    }
    const key = algorithm === 'HS256' ? new TextEncoder().encode('client-secret') : keys.privateKey
    return new SignJWT(payload)
      .setProtectedHeader({ alg: algorithm, kid: 'key-1' })
      .sign(token.foreignKey ? foreign.privateKey : key)
  }

  return standIn
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
