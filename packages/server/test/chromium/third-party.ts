import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import type { TestService } from '../support.ts'

/** A third-party application with its own pages, on its own origin. */
export interface ThirdParty {
  readonly url: string
  readonly redirect: string
  /** Sets the credentials that the person got when registering it. */
  configure(credentials: { readonly id: string; readonly secret: string | null }): void
  /** The present access token. `null` before the approval. */
  accessToken(): string | null
  /** Calls the API with its token, and returns the status. */
  useToken(): Promise<number>
  close(): Promise<void>
}

const INSECURE = { [oauth.allowInsecureRequests]: true }

/**
 * Starts an application that behaves like a careful client library: oauth4webapi checks state, PKCE
 * and `iss`.
 */
export async function startThirdParty(service: TestService): Promise<ThirdParty> {
  let credentials: { readonly id: string; readonly secret: string | null } | null = null
  let pending: { state: string; verifier: string } | null = null
  let token: string | null = null

  const issuer = new URL(service.url)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE })
  const metadata = await oauth.processDiscoveryResponse(issuer, found)

  async function connect(response: ServerResponse, query: URLSearchParams): Promise<void> {
    const verifier = oauth.generateRandomCodeVerifier()
    pending = { state: oauth.generateRandomState(), verifier }
    const address = new URL(metadata.authorization_endpoint ?? '')
    const type = query.get('type') ?? 'code'
    const challenge = await oauth.calculatePKCECodeChallenge(verifier)
    address.search = new URLSearchParams({
      client_id: credentials?.id ?? '',
      ...(query.has('bare') ? {} : { redirect_uri: redirect }),
      response_type: type,
      scope: query.get('scope') ?? 'place-orders check-status',
      state: pending.state,
      ...(type === 'code' ? { code_challenge: challenge, code_challenge_method: 'S256' } : {}),
    }).toString()
    response.writeHead(302, { location: address.href }).end()
  }

  async function exchange(address: URL): Promise<string> {
    const client: oauth.Client = { client_id: credentials?.id ?? '' }
    const { state, verifier } = pending ?? { state: '', verifier: '' }
    const params = oauth.validateAuthResponse(metadata, client, address, state)
    const secret = credentials?.secret ?? null
    const authentication = secret === null ? oauth.None() : oauth.ClientSecretPost(secret)
    const answer = await oauth.authorizationCodeGrantRequest(
      metadata,
      client,
      authentication,
      params,
      redirect,
      verifier,
      INSECURE,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(metadata, client, answer)
    return tokens.access_token
  }

  async function callback(response: ServerResponse, address: URL): Promise<void> {
    if (address.search === '') return show(response, 'Reading the address', FRAGMENT_SCRIPT)
    try {
      token = await exchange(address)
      show(response, 'Connected')
    } catch (error) {
      const refused = error instanceof oauth.AuthorizationResponseError
      show(response, refused ? `Refused: ${error.error}` : `Failed: ${error}`)
    }
  }

  /** Implicit flow: the page's script sends the URL fragment, which only it can read. */
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const fragment = new URLSearchParams(Buffer.concat(chunks).toString())
    const trusted = fragment.get('state') === pending?.state
    token = trusted ? fragment.get('access_token') : null
    response.end(token ? 'Connected' : `Refused: ${fragment.get('error')}`)
  }

  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', url)
    const routes: Record<string, () => unknown> = {
      '/': () => show(response, 'Photo book', '<a href="/connect">Connect</a>'),
      '/connect': () => connect(response, address.searchParams),
      '/callback': () => callback(response, address),
      '/fragment': () => receive(request, response),
    }
    const route = routes[address.pathname] ?? (() => response.writeHead(404).end())
    void route()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirect = `${url}/callback`

  return {
    url,
    redirect,
    configure(given) {
      credentials = given
    },
    accessToken: () => token,
    async useToken() {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${service.url}/api/orders`, { headers })).status
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const FRAGMENT_SCRIPT = `<script>
fetch('/fragment', { method: 'POST', body: location.hash.slice(1) })
  .then((response) => response.text())
  .then((text) => { document.querySelector('h1').textContent = text })
</script>`

function show(response: ServerResponse, heading: string, rest = ''): void {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(
    `<!doctype html><html lang="en"><title>Photo book</title><link rel="icon" href="data:,"><h1>${heading}</h1>${rest}</html>`,
  )
}
