import { pickOwnSettings } from '../../clients/settings/server-settings.ts'
import type { ServerContext } from '../../context.ts'
import type { Client } from '../../storage/records.ts'

export function buildRegistrationPath({ options }: ServerContext): string {
  return `${options.issuerUrl.origin}${options.basePath}/register`
}

/**
 * Builds the response to a registration request: all metadata of the client as registered, and its
 * management URL and token (RFC 7591 §3.2.1, RFC 7592 §3).
 */
export function buildClientInformation(
  client: Client,
  managementToken: string,
  context: ServerContext,
): Record<string, unknown> {
  const usesCodes = client.grantTypes.includes('authorization_code')
  return {
    token_endpoint_auth_method: 'client_secret_basic',
    response_types: usesCodes ? ['code'] : [],
    ...pickOwnSettings(client.settings),
    client_id: client.id,
    client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: client.grantTypes,
    scope: (client.scopes ?? []).join(' '),
    registration_access_token: managementToken,
    registration_client_uri: `${buildRegistrationPath(context)}/${client.id}`,
  }
}
