// The official MCP client in the form that the scenarios of @modelcontextprotocol/conformance
// expect: node mcp-client.mjs ADDRESS. It receives the URL of an MCP server and, in
// MCP_CONFORMANCE_CONTEXT, its credentials; it gets a token without a person, or fails.
import { pathToFileURL } from 'node:url'
import {
  auth,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Credentials by scenario. */
export const EXTENSIONS = {
  'auth/enterprise-managed-authorization': identityAssertion,
  'auth/wif-jwt-bearer': workload,
}

/** Gets a token for the MCP server at this URL as the scenario requires. */
export async function authorize(address, context) {
  const create = EXTENSIONS[context.name]
  if (!create) throw new Error(`There is no client for ${context.name}`)
  const result = await auth(create(context), { serverUrl: address })
  if (result !== 'AUTHORIZED') throw new Error(`The client got no token: ${result}`)
}

/**
 * SEP-990: exchanges an ID token for an assertion at the identity provider, and that for a token.
 */
function identityAssertion(context) {
  return new CrossAppAccessProvider({
    assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: context.idp_token_endpoint,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: context.idp_id_token,
        clientId: context.idp_client_id,
        clientSecret: context.idp_client_secret,
        scope,
      })
      return jwtAuthGrant
    },
    clientId: context.client_id,
    clientSecret: context.client_secret,
  })
}

/** SEP-1933: uses the platform's token as the assertion. */
function workload({ client_id, valid_jwt: assertion }) {
  let tokens
  return {
    redirectUrl: undefined,
    clientMetadata: {
      redirect_uris: [],
      grant_types: [JWT_BEARER],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => ({ client_id }),
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given
    },
    redirectToAuthorization() {
      throw new Error('A workload has no browser')
    },
    saveCodeVerifier() {},
    codeVerifier() {
      throw new Error('A workload has no code')
    },
    prepareTokenRequest: (scope) =>
      new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...(scope && { scope }) }),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await authorize(process.argv.at(-1), JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT))
}
