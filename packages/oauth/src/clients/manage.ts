import type { ServerContext } from '../context.ts'
import { randomId } from '../crypto.ts'
import { NotFound, ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import type { ClientSettings, ConfigurableClientSettings } from '../storage/client-settings.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import { assertAuthMethodOffered } from './authentication-methods.ts'
import { PERSONAL_ACCESS_CLIENT, rowIdOfDocumentUrl } from './client.ts'
import { pairwiseSubject } from './pairwise-subject.ts'
import { parseClientName, parseGrantTypes, parseRedirects, parseScopeLimit } from './parse.ts'
import { ClientChanged, changeClient, noSuchClient, saveClient } from './save.ts'
import { hasOwnSecret, newSecret } from './secret.ts'
import { assertAlgorithmOffered, assertClientRequirementsOffered } from './settings/demands.ts'
import { parseConfidential, parseSettings } from './settings/parse-settings.ts'

/** Options for `clients.create()`. */
export interface NewClient {
  /** Name shown on the consent screen, at most 191 characters. */
  readonly name: string
  /** Redirect URI or URIs. Required for the grants `authorization_code` and `implicit`. */
  readonly redirect?: string | readonly string[]
  /**
   * The user who owns the client. Omit it for clients of the application itself.
   * @default null
   */
  readonly userId?: string | number | null
  /**
   * Name of the user provider whose users the client serves; users of other providers get no token
   * through it. Required for the password grant if there are several providers. If absent, the
   * client serves users of every provider.
   */
  readonly provider?: string
  /**
   * Grant types that the client may use.
   * @default ['authorization_code', 'refresh_token']
   */
  readonly grants?: readonly GrantType[]
  /**
   * Whether the client gets a secret. Use `false` for apps that cannot keep one (browser, mobile,
   * CLI).
   * @default true
   */
  readonly confidential?: boolean
  /** Scopes that the client may request. If absent, any defined scope. */
  readonly scopes?: readonly string[]
  /**
   * Whether to skip the consent screen. Only for your own applications.
   * @default false
   */
  readonly firstParty?: boolean
  /**
   * Whether the client is an API that may introspect the tokens of every client.
   * @default false
   */
  readonly resourceServer?: boolean
  /** Further client metadata, under the names of RFC 7591 and OpenID Connect Registration. */
  readonly settings?: ConfigurableClientSettings
}

/**
 * A client and its new secret. The secret cannot be read again later, because only its hash is
 * stored.
 */
export interface CreatedClient {
  /** The stored client. */
  readonly client: Client
  /** The client secret. Cannot be read again later. `null` for clients that have none. */
  readonly secret: string | null
}

/**
 * Manages the clients of the server. Does not check permissions: your code must decide who may call
 * it.
 */
export interface Clients {
  /**
   * Registers a client and returns it with its secret, which cannot be read again later.
   * @throws ValidationFailed if an option is invalid
   * @example
   * ```ts
   * const { client, secret } = await oauth.clients.create({
   *   name: 'Shop',
   *   redirect: 'https://shop.example/callback',
   * })
   * ```
   */
  create(client: NewClient): Promise<CreatedClient>
  /** Finds a client by its `client_id`, deleted ones included. `null` if there is none. */
  find(id: string): Promise<Client | null>
  /** Lists all clients, deleted ones included. */
  list(): Promise<Client[]>
  /** Lists the clients that a user registered and that were not deleted, by name. */
  listByUser(userId: string | number): Promise<Client[]>
  /**
   * Changes the name and redirect URIs of a client. A client that a user registered becomes
   * unverified. A self-registered client stays verified. For a client with a metadata document, the
   * change lasts only until the document is read again.
   * @throws NotFound if there is no such client or it was deleted
   * @throws ValidationFailed if the name or a redirect URI is invalid
   */
  update(id: string, change: { readonly name: string; readonly redirect: string }): Promise<Client>
  /**
   * Replaces the client secret. The old secret and all refresh tokens issued under it stop working
   * immediately.
   * @throws NotFound if the client does not exist or has no secret
   * @example
   * ```ts
   * const { secret } = await oauth.clients.rotateSecret(client.id)
   * ```
   */
  rotateSecret(id: string): Promise<CreatedClient>
  /**
   * Deletes a client and revokes all its tokens.
   * @throws NotFound if there is no such client, or it is already deleted
   * @example
   * ```ts
   * await oauth.clients.revoke(client.id)
   * ```
   */
  revoke(id: string): Promise<void>
  /**
   * Marks a self-registered client, or a client that a user registered, as verified by the
   * operator. The consent screen then shows its logo and no longer warns about it. A later change
   * by the client or its owner makes it unverified again.
   * @throws NotFound if there is no such client, or the operator registered it
   * @throws ValidationFailed if the client is being changed at the same moment
   */
  verify(id: string): Promise<Client>
  /**
   * Returns the pairwise subject (OpenID Connect Core §8): the identifier by which a client knows a
   * user instead of the user id. Use it in responses of your API to that client. `null` if the
   * client has public subjects, so that it may get the user id, or does not exist.
   */
  pairwiseSubject(id: string, userId: string | number): Promise<string | null>
  /**
   * Returns the built-in client that all personal access tokens belong to. Creates it on the first
   * call.
   */
  personal(): Promise<Client>
}

export function manageClients(context: ServerContext): Clients {
  const { storage, options, providers } = context
  const repository = storage.clients

  async function find(id: string): Promise<Client | null> {
    // The public id of a client with a metadata document is the URL of that document.
    const rowId = id.startsWith('https://') ? rowIdOfDocumentUrl(id) : id
    return isPossibleId(rowId) ? repository.find(rowId) : null
  }

  async function requireClient(id: string): Promise<Client> {
    const client = await find(id)
    if (!client || client.revokedAt) throw noSuchClient()
    return client
  }

  return {
    async create(input) {
      const grantTypes = parseGrantTypes(input.grants, context.grants.keys())
      const asked = parseSettings(input.settings ?? {}, options.issuer)
      assertAuthMethodOffered(asked, context)
      assertClientRequirementsOffered(asked, context)
      assertAlgorithmOffered(asked, context)
      const confidential = parseConfidential(input.confidential, asked)
      const made = await newSecret({ confidential, settings: asked }, context)
      const { secret, secretHash } = made
      const settings = { ...made.settings, ...parseProvider(input, grantTypes, context) }
      const now = options.clock.now()
      const client: Client = {
        id: randomId(),
        userId:
          input.userId === undefined || input.userId === null
            ? null
            : providers.require(input.userId),
        name: parseClientName(input.name),
        confidential,
        secretHash,
        secretVersion: 1,
        redirectUris: parseRedirects(input.redirect, grantTypes, options.issuer),
        grantTypes,
        scopes: parseScopeLimit(input.scopes, options.scopeNames),
        firstParty: input.firstParty ?? false,
        resourceServer: input.resourceServer ?? false,
        settings,
        revokedAt: null,
        createdAt: now,
        updatedAt: now,
      }
      await repository.create(client)
      return { client, secret }
    },
    find,
    list: () => repository.list(),
    listByUser: (userId) => repository.listByUser(providers.require(userId)),
    async update(id, change) {
      const client = await requireClient(id)
      const name = parseClientName(change.name)
      const redirectUris = parseRedirects(change.redirect, client.grantTypes, options.issuer)
      if (client.userId === null) return saveClient(client, { name, redirectUris }, context)
      // Removes `verified` atomically: the operator may be verifying the old version at this
      // moment.
      return changeClient(
        client.id,
        ({ settings: { verified: _, ...settings } }) => ({ name, redirectUris, settings }),
        context,
      )
    },
    async rotateSecret(id) {
      const client = await requireClient(id)
      if (!client.confidential) throw new NotFound('This client is public: it has no secret.')
      if (!hasOwnSecret(client)) throw new NotFound('This client has a key, and no secret.')
      const { secretVersion: before } = client
      let rotated: string | null = null
      const saved = await changeClient(
        client.id,
        async (now) => {
          // A concurrent rotation came first and stays in effect.
          if (now.secretVersion !== before) throw noSuchClient()
          const { secret, secretHash, settings } = await newSecret(now, context)
          rotated = secret
          const changed = settings === now.settings ? {} : { settings }
          return { secretHash, secretVersion: before + 1, ...changed }
        },
        context,
      )
      return { client: saved, secret: rotated }
    },
    async revoke(id) {
      const client = await requireClient(id)
      await saveClient(client, { revokedAt: options.clock.now() }, context, 'client')
    },
    async verify(id) {
      const client = await requireClient(id)
      const { self_registered } = client.settings
      if (!self_registered && client.userId === null) {
        throw new NotFound('Those who run this server have registered this client themselves.')
      }
      const vouched = self_registered
        ? { self_registered: { ...self_registered, verified: true } }
        : { verified: true }
      try {
        return await saveClient(client, { settings: { ...client.settings, ...vouched } }, context)
      } catch (error) {
        if (!(error instanceof ClientChanged)) throw error
        throw new ValidationFailed({ id: ['It has changed at this moment: look at it again.'] })
      }
    },
    async pairwiseSubject(id, userId) {
      const client = await context.clients.find(id)
      return client && pairwiseSubject(client, providers.require(userId), context)
    },
    personal: () => personalAccessClient(context),
  }
}

function parseProvider(
  { provider }: NewClient,
  grantTypes: readonly string[],
  { providers: { all, find } }: ServerContext,
): Pick<ClientSettings, 'provider'> {
  const several = all.some(({ name }) => name !== null)
  if (provider !== undefined && !find(provider)) {
    throw new ValidationFailed({ provider: [`There is no user provider '${provider}'.`] })
  }
  if (several && provider === undefined && grantTypes.includes('password')) {
    throw new ValidationFailed({ provider: ['The password grant needs the user provider.'] })
  }
  return provider === undefined ? {} : { provider }
}

/**
 * Returns the built-in client that all personal access tokens belong to. The first process that
 * needs it creates it, so no installation step is required.
 */
export async function personalAccessClient(context: ServerContext): Promise<Client> {
  const found = await context.clients.find(PERSONAL_ACCESS_CLIENT)
  if (found) return found
  const now = context.options.clock.now()
  const client: Client = {
    id: PERSONAL_ACCESS_CLIENT,
    userId: null,
    name: 'Personal access tokens',
    confidential: false,
    secretHash: null,
    secretVersion: 1,
    redirectUris: [],
    grantTypes: ['personal_access'],
    scopes: null,
    firstParty: true,
    resourceServer: false,
    settings: {},
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await context.storage.clients.create(client)
  return client
}
