import type { ServiceContext } from '../../../context.ts'
import type { PageText } from '../../../messages/messages.ts'

/** A client, as the operations about clients return it. */
export interface ClientJson {
  readonly id: string
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly grants: readonly string[]
  readonly scopes: readonly string[] | null
  readonly confidential: boolean
  readonly first_party: boolean
  readonly resource_server: boolean
  readonly settings: Readonly<Record<string, unknown>>
  readonly user_id: string | null
  readonly registered_by: 'operator' | 'user' | 'registration' | 'document'
  readonly verified: boolean
  readonly previous_secret_until: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly last_used_at?: string | null
  readonly revoked_at: string | null
  readonly version: string
}

/**
 * A client and its secret, which is shown now. `null` if the client has no secret, or if the form
 * was sent again.
 */
export type ClientWithSecret = ClientJson & { readonly secret: string | null }

export const APPLICATIONS_PATH = '/admin/applications'

/**
 * Returns the URL path of a client's page. The id of a client with a metadata document is a URL.
 */
export function pathOf({ id }: Pick<ClientJson, 'id'>, action = ''): string {
  return `${APPLICATIONS_PATH}/${encodeURIComponent(id)}${action}`
}

/** Whether the client can call the management API. Only owners may change it. */
export function isManagement({ scopes }: ClientJson, { oauth }: ServiceContext): boolean {
  return scopes?.some((scope) => Object.hasOwn(oauth.machineScopes, scope)) ?? false
}

/** Whether the client authenticates with a secret. */
export function hasSecret({ confidential, settings }: ClientJson): boolean {
  return confidential && settings.token_endpoint_auth_method !== 'private_key_jwt'
}

const GRANTS = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'password',
  'implicit',
  'device_code',
  'token-exchange',
  'jwt-bearer',
] as const

const shortenUrn = (type: string) => type.slice(type.lastIndexOf(':') + 1)

/** Returns the name of a grant type and its purpose. An unknown type is shown by its identifier. */
export function describeGrant(type: string, t: PageText): { title: string; text: string | null } {
  const short = shortenUrn(type)
  const known = GRANTS.find((name) => name === short)
  if (known) {
    return { title: t(`adminClients.grant.${known}`), text: t(`adminClients.grantText.${known}`) }
  }
  const isPersonal = short === 'personal_access'
  return { title: isPersonal ? t('adminClients.grant.personal_access') : type, text: null }
}

const URN = 'urn:ietf:params:oauth:grant-type:'

/** The grant types that this service offers, in the order of the form. */
export function listOfferedGrants({ config }: ServiceContext): readonly string[] {
  const { settings } = config
  return [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    ...(settings.passwordGrant ? ['password'] : []),
    ...(settings.implicitGrant ? ['implicit'] : []),
    ...(settings.deviceGrant ? [`${URN}device_code`] : []),
    ...(settings.exchangeGrant ? [`${URN}token-exchange`] : []),
    ...(settings.trustedIssuers.length > 0 ? [`${URN}jwt-bearer`] : []),
  ]
}
