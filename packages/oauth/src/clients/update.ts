import type { ServerContext } from '../context.ts'
import { Conflict, ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import type { ClientSettings, ConfigurableClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { isPersonalAccessClient } from './client.ts'
import { requireClient } from './find.ts'
import { assertMachineScopes, parseClientScopes } from './machine-scopes.ts'
import { assertRedirectPresent, parseClientName, parseGrantTypes, parseRedirects } from './parse.ts'
import { assertProviderNamed } from './provider.ts'
import { type ClientFields, changeClient } from './save.ts'
import { selfRegisteredGrants } from './self-registered.ts'
import { parseOwnSettings } from './settings/own-settings.ts'
import { parseConfidential } from './settings/parse-settings.ts'
import { pickOwnSettings, pickServerSettings } from './settings/server-settings.ts'

/** Argument of `clients.update()`. Fields that are absent stay as they are. */
export interface ClientUpdate {
  /** Name shown on the consent screen, at most 191 characters. */
  readonly name?: string
  /** Redirect URI or URIs, which replace all earlier ones. */
  readonly redirect?: string | readonly string[]
  /** Grant types that the client may use, which replace all earlier ones. */
  readonly grants?: readonly GrantType[]
  /** Scopes that the client may request. `null` for any scope of the option `scopes`. */
  readonly scopes?: readonly string[] | null
  /** Whether to skip the consent screen. Only for your own applications. */
  readonly firstParty?: boolean
  /** Whether the client is an API that may introspect the tokens of every client. */
  readonly resourceServer?: boolean
  /** Client metadata to change. `null` removes a setting, absent ones stay as they are. */
  readonly settings?: SettingsChange
  /**
   * The `updatedAt` of the client as you read it. If the client has changed since, `update()` throws
   * a `Conflict` and changes nothing.
   */
  readonly unchangedSince?: Date
  /**
   * The party that makes the change. `owner` may change only the name and redirect URIs, and makes
   * a client that a user registered unverified.
   * @default 'operator'
   */
  readonly by?: 'operator' | 'owner'
}

/** Client metadata to change. `null` removes a setting. */
export type SettingsChange = {
  readonly [Name in keyof ConfigurableClientSettings]?: ConfigurableClientSettings[Name] | null
}

const OWNER_FIELDS = ['name', 'redirect', 'unchangedSince', 'by']

/** Changes a client. See `Clients.update()`. */
export async function updateClient(
  id: string,
  change: ClientUpdate,
  context: ServerContext,
): Promise<Client> {
  const { id: rowId } = await requireClient(id, context)
  const { unchangedSince } = change
  const decide = (client: Client) => {
    if (unchangedSince && client.updatedAt.getTime() !== unchangedSince.getTime()) {
      throw new Conflict('The client has changed since it was read. Read it again.')
    }
    return buildFieldChanges(client, change, context)
  }
  return changeClient(rowId, decide, context)
}

/**
 * Returns the fields to write, or `null` for none. Checks them together with the fields that do not
 * change.
 */
function buildFieldChanges(
  client: Client,
  change: ClientUpdate,
  context: ServerContext,
): ClientFields | null {
  if (change.by === 'owner') assertOwnerMayChange(change)
  if (isPersonalAccessClient(client)) assertOnlyName(change)
  if (client.settings.self_registered) assertAllowedSelfRegistered(change)
  const fields: ClientFields = {
    ...(change.name !== undefined && { name: parseClientName(change.name) }),
    ...buildAccessChanges(client, change, context),
    ...(change.firstParty !== undefined && { firstParty: change.firstParty }),
    ...(change.resourceServer !== undefined && { resourceServer: change.resourceServer }),
    ...buildSettingsChanges(client, change, context),
  }
  // A change of the name does not fail because of a scope that has become a machine scope.
  const isAboutScopes = change.scopes !== undefined || change.grants !== undefined
  if (isAboutScopes) assertMachineScopes({ ...client, ...fields }, context.options)
  return Object.keys(fields).length === 0 ? null : fields
}

/** Returns the changed grants, redirect URIs and scopes. */
function buildAccessChanges(
  client: Client,
  { grants, redirect, scopes }: ClientUpdate,
  context: ServerContext,
): ClientFields {
  const { options } = context
  const grantTypes =
    grants === undefined ? client.grantTypes : parseGrantTypes(grants, context.grants.keys())
  if (grants !== undefined) {
    assertProviderNamed(client.settings.provider, grantTypes, context)
    if (redirect === undefined) assertRedirectPresent(client.redirectUris, grantTypes)
  }
  return {
    ...(grants !== undefined && { grantTypes }),
    ...(redirect !== undefined && {
      redirectUris: parseRedirects(redirect, grantTypes, options.issuer),
    }),
    ...(scopes !== undefined && { scopes: parseClientScopes(scopes, options) }),
  }
}

function buildSettingsChanges(
  client: Client,
  change: ClientUpdate,
  context: ServerContext,
): Pick<ClientFields, 'settings' | 'secretHash'> {
  const unverifies = change.by === 'owner' && client.settings.verified !== undefined
  if (change.settings === undefined && !unverifies) return {}
  const own = pickOwnSettings(client.settings)
  const wanted =
    change.settings === undefined ? own : parseOwnSettings({ ...own, ...change.settings }, context)
  const { verified, ...others } = pickServerSettings(client.settings)
  const ours = { ...others, ...(verified !== undefined && !unverifies && { verified }) }
  const before = own.token_endpoint_auth_method
  const after = wanted.token_endpoint_auth_method
  if (before === after) return { settings: { ...wanted, ...ours } }
  parseConfidential(client.confidential, wanted)
  assertNoNewSecretNeeded(client, after)
  return withSecretFor(after, { ...wanted, ...ours })
}

/**
 * Rejects a change of the authentication method for which the client would need a new secret: to
 * `client_secret_jwt`, because a stored hash cannot verify signatures, or from `private_key_jwt` if
 * the client has no secret.
 */
function assertNoNewSecretNeeded(
  { confidential, secretHash, settings }: Client,
  method: ClientSettings['token_endpoint_auth_method'],
): void {
  if (!confidential || method === 'private_key_jwt') return
  const hadKey = settings.token_endpoint_auth_method === 'private_key_jwt' && secretHash === null
  if (method !== 'client_secret_jwt' && !hadKey) return
  const name = method ?? 'client_secret_basic'
  throw new ValidationFailed({
    settings: [
      `token_endpoint_auth_method ${name} needs a new secret: call rotateSecret() with this method.`,
    ],
  })
}

/** Removes the parts of the secret that the method does not use. */
function withSecretFor(
  method: ClientSettings['token_endpoint_auth_method'],
  { sealed_secret: _, previous_secret: previous, ...settings }: ClientSettings,
): Pick<ClientFields, 'settings' | 'secretHash'> {
  if (method === 'private_key_jwt') return { settings, secretHash: null }
  if (previous === undefined) return { settings }
  const { sealed: __, ...hashed } = previous
  return { settings: { ...settings, previous_secret: hashed } }
}

function assertOwnerMayChange(change: ClientUpdate): void {
  const fields = Object.entries(change).filter(([, value]) => value !== undefined)
  const [field] = fields.find(([name]) => !OWNER_FIELDS.includes(name)) ?? []
  if (field === undefined) return
  const message = 'The owner of a client may change only its name and redirect URIs.'
  throw new ValidationFailed({ [field]: [message] })
}

function assertOnlyName({ name: _, unchangedSince: __, by: ___, ...others }: ClientUpdate): void {
  const [field] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (field === undefined) return
  const message = 'Only the name of the client for personal access tokens can be changed.'
  throw new ValidationFailed({ [field]: [message] })
}

/**
 * Rejects changes to a self-registered client that would end the protection of its users, such as
 * skipping the consent screen.
 */
function assertAllowedSelfRegistered({ grants, firstParty, resourceServer }: ClientUpdate): void {
  const grant = grants?.find((name) => !selfRegisteredGrants.includes(name))
  const message = 'Not allowed for self-registered clients.'
  if (grant !== undefined) throw new ValidationFailed({ grants: [`'${grant}': ${message}`] })
  if (firstParty) throw new ValidationFailed({ firstParty: [message] })
  if (resourceServer) throw new ValidationFailed({ resourceServer: [message] })
}
