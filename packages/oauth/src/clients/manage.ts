import type { ServerContext } from '../context.ts'
import { randomId } from '../crypto.ts'
import { NotFound, ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import type { ClientSettings } from '../storage/client-settings.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import { assertMethodOffered } from './authentication/offered-methods.ts'
import { PERSONAL_ACCESS_CLIENT, rowIdOf } from './client.ts'
import { pairwiseSubject } from './pairwise-subject.ts'
import { parseClientName, parseGrantTypes, parseRedirects, parseScopeLimit } from './parse.ts'
import { ClientChanged, changeClient, noSuchClient, saveClient } from './save.ts'
import { hasOwnSecret, newSecret } from './secret.ts'
import { assertAlgorithmOffered, assertDemandsOffered } from './settings/demands.ts'
import { parseConfidential, parseSettings } from './settings/parse-settings.ts'

/** What a client is registered with. */
export interface NewClient {
  /** What people read when they are asked to approve it. */
  readonly name: string
  /** One address or several; may be left out for clients that never send people here. */
  readonly redirect?: string | readonly string[]
  /** The person it belongs to; left out for a client of the application itself. */
  readonly userId?: string | number | null
  /** Default `['authorization_code', 'refresh_token']`. */
  readonly grants?: readonly GrantType[]
  /** False for apps that cannot keep a secret (browser, mobile, CLI). Default true. */
  readonly confidential?: boolean
  /** Limits what it may ask for. Default: any defined scope. */
  readonly scopes?: readonly string[]
  /** Skips the approval screen. Only for your own applications. Default false. */
  readonly firstParty?: boolean
  /** An API that may introspect the tokens of every client. Default false. */
  readonly resourceServer?: boolean
  /** What it has beyond OAuth 2.0, by the names of RFC 7591 and OpenID Connect Registration. */
  readonly settings?: Omit<ClientSettings, 'sealed_secret' | 'self_registered' | 'verified'>
}

/** The only moment a secret is known: it is stored hashed. */
export interface CreatedClient {
  /** The client, as it is stored. */
  readonly client: Client
  /** Its secret, told this once; null for a public client. */
  readonly secret: string | null
}

/** The clients of this server, for the application itself: nobody's permission is asked. */
export interface Clients {
  /** Registers a client. Its secret is told here and never again. */
  create(client: NewClient): Promise<CreatedClient>
  /** The client with this id, or with a document at this address, deleted ones included; null when there is none. */
  find(id: string): Promise<Client | null>
  /** Every client that was not deleted. */
  list(): Promise<Client[]>
  /** The clients that this person registered. */
  listByUser(userId: string | number): Promise<Client[]>
  /** Changes name and redirect addresses. A person's client is unverified again. */
  update(id: string, change: { readonly name: string; readonly redirect: string }): Promise<Client>
  /** A new secret; the old one and every refresh token issued with it stop at once. */
  rotateSecret(id: string): Promise<CreatedClient>
  /** Ends the client with all its tokens. */
  revoke(id: string): Promise<void>
  /**
   * Those who run the server have looked at a client that has registered itself, or that a person has registered: people
   * are no longer told that it is unverified, and its logo is shown. It is unverified again when it changes.
   */
  verify(id: string): Promise<Client>
  /**
   * The pairwise subject (OpenID Connect Core §8) by which this client knows a user. `null` if the client may know the
   * user id: it has public subjects, or does not exist. Show this to the client wherever your API would show the id.
   */
  pairwiseSubject(id: string, userId: string | number): Promise<string | null>
  /** The client that everybody's personal access tokens hang on; made when it is not there. */
  personal(): Promise<Client>
}

export function manageClients(context: ServerContext): Clients {
  const { storage, options } = context
  const repository = storage.clients

  async function find(id: string): Promise<Client | null> {
    // A document's address is what people see as the client's id.
    const rowId = id.startsWith('https://') ? rowIdOf(id) : id
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
      assertMethodOffered(asked, context)
      assertDemandsOffered(asked, context)
      assertAlgorithmOffered(asked, context)
      const confidential = parseConfidential(input.confidential, asked)
      const made = await newSecret({ confidential, settings: asked }, context)
      const { secret, secretHash, settings } = made
      const now = options.clock.now()
      const client: Client = {
        id: randomId(),
        userId: input.userId === undefined || input.userId === null ? null : String(input.userId),
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
    listByUser: (userId) => repository.listByUser(String(userId)),
    async update(id, change) {
      const client = await requireClient(id)
      const name = parseClientName(change.name)
      const redirectUris = parseRedirects(change.redirect, client.grantTypes, options.issuer)
      if (client.userId === null) return saveClient(client, { name, redirectUris }, context)
      // Somebody may vouch at this moment for what it was before.
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
      let told: string | null = null
      const saved = await changeClient(
        client.id,
        async (now) => {
          // Somebody else has rotated it: theirs was first and stands.
          if (now.secretVersion !== before) throw noSuchClient()
          const { secret, secretHash, settings } = await newSecret(now, context)
          told = secret
          const changed = settings === now.settings ? {} : { settings }
          return { secretHash, secretVersion: before + 1, ...changed }
        },
        context,
      )
      return { client: saved, secret: told }
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
      return client && pairwiseSubject(client, String(userId), context)
    },
    personal: () => personalAccessClient(context),
  }
}

/** Made on first use, whichever process is first, so that nobody has to install it. */
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
