import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import { createCertificate } from '../../../../test-support/self-signed.ts'
import type { OutgoingOptions } from '../../src/index.ts'
import type { TestServer } from '../support.ts'

/** Every host name that the tests serve. All resolve to 127.0.0.1, which only the options allow. */
export const HOSTS = ['app.example', 'keys.example', 'other.example']
const certificate = createCertificate([...HOSTS, 'localhost'], ['127.0.0.1'])

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface WebServer {
  readonly port: number
  /** The received requests, in order. */
  readonly asked: IncomingMessage[]
  urlOf(path: string, host?: string): string
  /** Sets the handler for all later requests. */
  answer(handler: Handler): void
  answerJson(content: unknown, headers?: Record<string, string>): void
  close(): Promise<void>
}

/** Starts the web server of another party, with TLS. */
export async function startWebServer(): Promise<WebServer> {
  const asked: IncomingMessage[] = []
  let handle: Handler = (_request, response) => response.writeHead(404).end()
  const server = createServer(certificate, (request, response) => {
    asked.push(request)
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    asked,
    urlOf: (path, host = 'app.example') => `https://${host}:${port}${path}`,
    answer(handler) {
      handle = handler
    },
    answerJson(content, headers = {}) {
      handle = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers })
        response.end(typeof content === 'function' ? content() : JSON.stringify(content))
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Returns options for outgoing requests in tests: host names resolve to 127.0.0.1, which is
 * allowed.
 */
export function outgoing(changes: OutgoingOptions = {}): OutgoingOptions {
  return {
    privateAddresses: ['127.0.0.1'],
    certificates: [certificate.cert],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    timeout: 20,
    ...changes,
  }
}

export interface Signer {
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly jwk: Readonly<Record<string, unknown>>
}

export async function createSigner(algorithm: string, kid = 'key'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { algorithm, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } }
}

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

let count = 0

/** Builds the claims of an honest client assertion. */
export function assertionClaims(server: TestServer, clientId: string): Record<string, unknown> {
  count += 1
  const now = Math.floor(server.clock.now().getTime() / 1000)
  const jti = `proof ${count}`
  return { iss: clientId, sub: clientId, aud: server.url, iat: now, exp: now + 60, jti }
}

export function sign(
  claims: Record<string, unknown>,
  key: CryptoKey | Uint8Array,
  header: JWTHeaderParameters,
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}

/** Sends a token request with this assertion, without any user's approval. */
export function callWith(
  server: TestServer,
  assertion: string,
  extraParams: Record<string, string> = {},
): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: assertion,
    ...extraParams,
  })
}

export function postJson(
  server: TestServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Response> {
  return server.request(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}
