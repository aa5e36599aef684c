import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { type Decision, decideInBrowser } from '../clients/browser.ts'

type Saved = Parameters<NonNullable<OAuthClientProvider['saveClientInformation']>>[0]
type Tokens = Parameters<OAuthClientProvider['saveTokens']>[0]

export const CALLBACK = 'http://127.0.0.1:33418/callback'

export interface Host extends OAuthClientProvider {
  /** The tokens of the client. `information` is its registration. */
  current: Tokens | undefined
  information: Saved | undefined
  /** The URL the client wants to send the person to. */
  sentTo: URL | undefined
  /**
   * Follows the URL in `sentTo` as the person, decides, and returns the parameters of the redirect.
   */
  visit(choice?: Decision): Promise<URLSearchParams>
}

/** Stores the state of a program with an MCP client in memory, like the SDK's own examples. */
export function createHost(clientMetadataUrl?: string): Host {
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  const host: Host = {
    current: undefined,
    information: undefined,
    sentTo: undefined,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: CALLBACK,
    clientMetadata: {
      client_name: 'A program with an MCP client',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a state',
    clientInformation: () => host.information,
    saveClientInformation(information) {
      host.information = information
    },
    tokens: () => host.current,
    saveTokens(tokens) {
      host.current = tokens
    },
    redirectToAuthorization(url) {
      host.sentTo = url
    },
    saveCodeVerifier(text) {
      verifier = text
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovered,
    saveDiscoveryState(state) {
      discovered = state
    },
    invalidateCredentials(what) {
      if (what === 'all' || what === 'tokens') host.current = undefined
      if (what === 'all' || what === 'client') host.information = undefined
    },
    async visit(choice) {
      const url = host.sentTo
      if (!url) throw new Error('The client has sent nobody anywhere')
      host.sentTo = undefined
      return (await decideInBrowser(url, choice)).searchParams
    },
  }
  return host
}
