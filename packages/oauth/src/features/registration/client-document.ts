import { NotFetched } from '@tollgate/http/outgoing'
import { deriveDocumentClientId } from '../../clients/client.ts'
import { type ClientFields, changeClient } from '../../clients/save.ts'
import {
  createUnusedClient,
  isUnusedClient,
  trackUnusedClient,
  withoutVerification,
} from '../../clients/self-registered.ts'
import { isRecord } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata, isOAuthError } from '../../errors.ts'
import type { RatePolicy } from '../../limits/resources.ts'
import type { DocumentRules } from '../../outgoing/documents.ts'
import type { SelfRegistration } from '../../storage/client-settings.ts'
import type { Client } from '../../storage/records.ts'
import { readClientMetadata, type ValidatedClientMetadata } from './read-metadata.ts'
import type { RedirectPolicy } from './redirects.ts'
import { assertSectorListsRedirects } from './sector.ts'

export interface ClientDocumentSettings {
  /** Hosts from which client metadata documents are accepted. `null` for any. */
  readonly hosts: readonly string[] | null
  readonly rate: RatePolicy
  readonly unusedSeconds: number
  readonly redirects: RedirectPolicy
  readonly scopes: 'registered' | 'marked'
}

const DOCUMENT: DocumentRules = {
  types: ['application/json'],
  largest: 16 * 1024,
  staleIfError: 24 * 3600,
}
/** Documents that this process has already compared with their rows. */
const comparedDocuments = new WeakSet<object>()

/**
 * Finds the client whose `client_id` is the URL of a metadata document. Fetches the document, and
 * creates or updates the stored client from it. Returns `null` if the client was deleted at this
 * server.
 * @throws InvalidClientMetadata if the document is invalid or cannot be fetched
 */
export async function findClientByDocument(
  clientId: string,
  settings: ClientDocumentSettings,
  context: ServerContext,
): Promise<Client | null> {
  const problem = addressProblem(clientId, settings.hosts, context)
  if (problem !== null) throw new InvalidClientMetadata(`This client_id ${problem}`)
  const known = await context.clients.find(deriveDocumentClientId(clientId))
  // Checked before anything is fetched on behalf of a stranger.
  if (!known) await context.resources.count(settings.rate, context.network)
  const content = await fetchDocument(clientId, context)
  if (known && comparedDocuments.has(content)) return known
  const described = await readDocument(content, clientId, settings, context)
  const client = await storeAs(clientId, described, settings, context)
  comparedDocuments.add(content)
  return client
}

async function fetchDocument(
  clientId: string,
  { outgoing, network }: ServerContext,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { content } = await outgoing.documents.get(clientId, DOCUMENT, network)
    if (isRecord(content)) return content
  } catch (cause) {
    if (!(cause instanceof NotFetched)) throw cause
    throw new InvalidClientMetadata('The document at this client_id cannot be fetched', { cause })
  }
  throw new InvalidClientMetadata('The document at this client_id is not a JSON object')
}

/**
 * Validates a document (Client ID Metadata Document §4). It must contain its own URL, and must not
 * use a shared secret.
 */
async function readDocument(
  content: Readonly<Record<string, unknown>>,
  clientId: string,
  { redirects, scopes }: ClientDocumentSettings,
  context: ServerContext,
): Promise<ValidatedClientMetadata> {
  if (content.client_id !== clientId) {
    throw new InvalidClientMetadata('client_id in the document must be the URL of the document')
  }
  const method = content.token_endpoint_auth_method
  const shares = typeof method === 'string' && method.startsWith('client_secret_')
  if (shares || 'client_secret' in content || 'client_secret_expires_at' in content) {
    throw new InvalidClientMetadata('A client with a metadata document cannot have a secret')
  }
  const rules = { redirects, scopes, defaultMethod: 'none' } as const
  const named = { client_name: new URL(clientId).host, ...content }
  const described = readClientMetadata(named, rules, context)
  await assertSectorListsRedirects(described, context.outgoing.documents.get, context.network)
  return described
}

async function storeAs(
  clientId: string,
  described: ValidatedClientMetadata,
  { unusedSeconds }: ClientDocumentSettings,
  context: ServerContext,
): Promise<Client | null> {
  const id = deriveDocumentClientId(clientId)
  const now = context.clock.now()
  const unused_until = now.getTime() + unusedSeconds * 1000
  const registration = { by: 'document', document: clientId, unused_until } as const
  if (!(await context.storage.clients.find(id))) {
    const client: Client = {
      ...described,
      id,
      userId: null,
      // Public even with its own key: nothing was agreed with this server, so PKCE is required.
      confidential: false,
      secretHash: null,
      secretVersion: 1,
      firstParty: false,
      resourceServer: false,
      revokedAt: null,
      createdAt: now,
      updatedAt: now,
    }
    const created = await createUnusedClient(client, registration, context)
    return created ?? context.storage.clients.find(id)
  }
  try {
    return await changeClient(
      id,
      (now) => changesFrom(now, described, registration, context),
      context,
    )
  } catch (error) {
    if (isOAuthError(error, 'not_found')) return null
    throw error
  }
}

/** Returns the changes needed for the row to match the document. `null` for none. */
async function changesFrom(
  row: Client,
  described: ValidatedClientMetadata,
  registration: SelfRegistration & { readonly unused_until: number },
  context: ServerContext,
): Promise<ClientFields | null> {
  const { self_registered: before = registration } = row.settings
  const { unused_until } = registration
  const over = isUnusedClient(row) && (before.unused_until ?? 0) <= context.clock.now().getTime()
  if (!over && isAsDescribed(row, described)) return null
  // The unused client had expired, but its row still exists.
  if (over) await trackUnusedClient({ clientId: row.id, until: unused_until }, context)
  const known = hasNewKeysOnly(row, described) ? before : withoutVerification(before)
  const self_registered = over ? { ...known, unused_until } : known
  const { confidential: _, settings, ...fields } = described
  return { ...fields, settings: { ...settings, self_registered } }
}

/** Whether only the keys have changed, which does not affect the verification of the client. */
function hasNewKeysOnly(row: Client, described: ValidatedClientMetadata): boolean {
  const { jwks: _, ...settings } = row.settings
  const { jwks: __, ...wanted } = described.settings
  return isAsDescribed({ ...row, settings }, { ...described, settings: wanted })
}

function isAsDescribed(
  row: Client,
  { confidential: _, ...described }: ValidatedClientMetadata,
): boolean {
  const { self_registered: __, ...settings } = row.settings
  const { name, redirectUris, grantTypes, scopes } = row
  const fields = [name, redirectUris, grantTypes, scopes, settings]
  const wanted = [
    described.name,
    described.redirectUris,
    described.grantTypes,
    described.scopes,
    described.settings,
  ]
  return JSON.stringify(fields) === JSON.stringify(wanted)
}

const MAX_ID_LENGTH = 500
const DOT_SEGMENT = /\/(\.|%2e){1,2}(\/|$)/i

/**
 * Returns why the URL cannot be a client id (Client ID Metadata Document §3), or `null` if it can.
 */
function addressProblem(
  clientId: string,
  hosts: readonly string[] | null,
  { options }: ServerContext,
): string | null {
  if (clientId.length > MAX_ID_LENGTH) return `must not be longer than ${MAX_ID_LENGTH} characters`
  if (!URL.canParse(clientId)) return 'is no address'
  const url = new URL(clientId)
  // The id is compared character by character, so each client must have exactly one spelling.
  if (url.href !== clientId) return `should be written ${url.href}`
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (clientId.includes('#')) return 'must not have a fragment'
  if (url.pathname === '/' || DOT_SEGMENT.test(clientId.split('?')[0] ?? '')) {
    return 'must have a path without dot segments'
  }
  if (url.origin === options.issuerUrl.origin) return 'must not lead to this server'
  if (hosts && !hosts.includes(url.host)) return 'is on a host that this server does not allow'
  return null
}
