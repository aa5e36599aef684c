import type { ServerContext } from '../context.ts'
import { createRandomId } from '../crypto.ts'
import { NotFound, ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import type { ConfigurableClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { PERSONAL_ACCESS_CLIENT_ID } from './client.ts'
import { type ClientPage, type ClientPageOptions, listClientPage } from './client-pages.ts'
import { findClient, findClients, requireClient } from './find.ts'
import { findLastUses } from './last-use.ts'
import { assertMachineScopes, parseClientScopes } from './machine-scopes.ts'
import { derivePairwiseSubject } from './pairwise-subject.ts'
import { parseClientName, parseGrantTypes, parseRedirects } from './parse.ts'
import { assertProviderNamed } from './provider.ts'
import { ClientChanged, type ClientFields, changeClient, saveClient } from './save.ts'
import { type CreatedClient, createClientSecret } from './secret.ts'
import { endPreviousSecret, rotateSecret, type SecretRotation } from './secret-rotation.ts'
import { withoutVerification } from './self-registered.ts'
import { parseOwnSettings } from './settings/own-settings.ts'
import { parseConfidential } from './settings/parse-settings.ts'
import { type ClientUpdate, updateClient } from './update.ts'

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
  /**
   * Scopes that the client may request, machine scopes included. If absent, any scope of the option
   * `scopes`, and no machine scope.
   */
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
 * Manages the clients of the server. Does not check permissions: the caller decides who may use it.
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
  /**
   * Finds clients by their `client_id`, deleted ones included, with one query per 1000 ids. Unknown
   * clients are missing from the result.
   */
  findMany(ids: readonly string[]): Promise<ReadonlyMap<string, Client>>
  /** Lists all clients, deleted ones included. Use `page()` if there may be many. */
  list(): Promise<Client[]>
  /**
   * Lists a page of all clients, deleted ones included, oldest first. Reads a bounded number of
   * clients, no matter how many there are.
   * @throws ValidationFailed if an option is invalid
   * @example
   * ```ts
   * const { clients, next } = await oauth.clients.page({ limit: 20, search: 'shop' })
   * const second = next && (await oauth.clients.page({ limit: 20, search: 'shop', after: next }))
   * ```
   */
  page(options?: ClientPageOptions): Promise<ClientPage>
  /**
   * Returns when each of these clients was last used, in one query, for at most 1000 ids. A client
   * uses the server when it gets or refreshes a token, or introspects one, but not when it sends an
   * access token to an API. To avoid a write for every request, a use is recorded once per day: the
   * actual last use may be up to a day later. Clients that were never used are missing from the
   * result.
   * @throws ValidationFailed if there are more than 1000 ids
   * @example
   * ```ts
   * const { clients } = await oauth.clients.page()
   * const uses = await oauth.clients.lastUsed(clients.map(({ id }) => id))
   * const idle = clients.filter(({ id }) => !uses.has(id))
   * ```
   */
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /** Lists the clients that a user registered and that were not deleted, by name. */
  listByUser(userId: string | number): Promise<Client[]>
  /**
   * Changes the given fields of a client, on every process within a second. If you remove a grant
   * type, the client can no longer use it. If you remove a scope, refreshes no longer return it.
   * Access tokens stay as they are until they expire. If the client has a metadata document, your
   * change lasts only until the document is read again.
   * @throws NotFound if there is no such client or it was deleted
   * @throws ValidationFailed if a field is invalid, alone or together with the unchanged fields
   * @throws Conflict if the client has changed since `unchangedSince`
   * @example
   * ```ts
   * const client = await oauth.clients.find(id)
   * if (client) {
   *   const { updatedAt: unchangedSince } = client
   *   await oauth.clients.update(id, { grants: ['client_credentials'], unchangedSince })
   * }
   * ```
   */
  update(id: string, change: ClientUpdate): Promise<Client>
  /**
   * Replaces the client secret. Without `overlap` the rotation is for a leaked secret: the old
   * secret, an older one that still works after a planned rotation, all refresh tokens issued under
   * them, and all tokens that the client got for itself stop working. This takes between one and
   * two seconds, until every process has learned of it: do not call it in a transaction. With
   * `overlap` the rotation is planned: the old secret keeps authenticating for that time, and all
   * tokens survive. At most one old secret authenticates, so a second planned rotation immediately
   * invalidates the oldest secret.
   * @throws NotFound if the client does not exist or has no secret
   * @throws ValidationFailed if `overlap` or `method` is invalid
   * @throws Conflict if the secret is rotated by another caller at the same time
   * @example
   * ```ts
   * const { secret } = await oauth.clients.rotateSecret(client.id, { overlap: '24h' })
   * ```
   */
  rotateSecret(id: string, rotation?: SecretRotation): Promise<CreatedClient>
  /**
   * Invalidates the old secret of a planned rotation before its overlap is over, on every process
   * within a second. Does nothing if there is no old secret.
   * @throws NotFound if there is no such client or it was deleted
   */
  endPreviousSecret(id: string): Promise<Client>
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
   * Marks a client as unverified again, which undoes `verify()`. Does nothing if the client is not
   * verified.
   * @throws NotFound if there is no such client, or the operator registered it
   */
  unverify(id: string): Promise<Client>
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

export function createClients(context: ServerContext): Clients {
  const { storage, options, providers } = context
  const repository = storage.clients

  return {
    async create(input) {
      const grantTypes = parseGrantTypes(input.grants, context.grants.keys())
      const asked = parseOwnSettings(input.settings ?? {}, context)
      assertProviderNamed(input.provider, grantTypes, context)
      const confidential = parseConfidential(input.confidential, asked)
      const made = await createClientSecret({ confidential, settings: asked }, context)
      const { secret, secretHash } = made
      const { provider } = input
      const settings = { ...made.settings, ...(provider !== undefined && { provider }) }
      const now = options.clock.now()
      const client: Client = {
        id: createRandomId(),
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
        scopes: parseClientScopes(input.scopes, options),
        firstParty: input.firstParty ?? false,
        resourceServer: input.resourceServer ?? false,
        settings,
        revokedAt: null,
        createdAt: now,
        updatedAt: now,
      }
      assertMachineScopes(client, options)
      await repository.create(client)
      return { client, secret }
    },
    find: (id) => findClient(id, context),
    findMany: (ids) => findClients(ids, context),
    list: () => repository.list(),
    page: (page = {}) => listClientPage(page, context),
    lastUsed: (ids) => findLastUses(ids, context),
    listByUser: (userId) => repository.listByUser(providers.require(userId)),
    update: (id, change) => updateClient(id, change, context),
    rotateSecret: (id, rotation = {}) => rotateSecret(id, rotation, context),
    endPreviousSecret: (id) => endPreviousSecret(id, context),
    async revoke(id) {
      const client = await requireClient(id, context)
      await saveClient(client, { revokedAt: options.clock.now() }, context, 'client')
    },
    async verify(id) {
      const client = await requireReviewable(id, context)
      const { self_registered } = client.settings
      const vouched = self_registered
        ? { self_registered: { ...self_registered, verified: true } }
        : { verified: true }
      try {
        return await saveClient(client, { settings: { ...client.settings, ...vouched } }, context)
      } catch (error) {
        if (!(error instanceof ClientChanged)) throw error
        throw new ValidationFailed({ id: ['The client has just been changed. Review it again.'] })
      }
    },
    async unverify(id) {
      const client = await requireReviewable(id, context)
      return changeClient(client.id, withoutReview, context)
    },
    async pairwiseSubject(id, userId) {
      const client = await context.clients.find(id)
      return client && derivePairwiseSubject(client, providers.require(userId), context)
    },
    personal: () => getPersonalAccessClient(context),
  }
}

/** Finds a client that the operator may verify: it registered itself, or a user registered it. */
async function requireReviewable(id: string, context: ServerContext): Promise<Client> {
  const client = await requireClient(id, context)
  if (client.settings.self_registered || client.userId !== null) return client
  throw new NotFound(
    'This client was registered by the operator of this server and needs no verification.',
  )
}

function withoutReview({ settings }: Client): ClientFields | null {
  const { verified, self_registered, ...others } = settings
  if (verified === undefined && self_registered?.verified === undefined) return null
  return {
    settings: {
      ...others,
      ...(self_registered && { self_registered: withoutVerification(self_registered) }),
    },
  }
}

/**
 * Returns the built-in client that all personal access tokens belong to. The first process that
 * needs it creates it, so no installation step is required.
 */
export async function getPersonalAccessClient(context: ServerContext): Promise<Client> {
  const found = await context.clients.find(PERSONAL_ACCESS_CLIENT_ID)
  if (found) return found
  const now = context.options.clock.now()
  const client: Client = {
    id: PERSONAL_ACCESS_CLIENT_ID,
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
