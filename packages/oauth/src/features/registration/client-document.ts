import { NotFetched } from '@tollgate/http/outgoing'
import { rowIdOf } from '../../clients/client.ts'
import { type ClientFields, changeClient } from '../../clients/save.ts'
import { createUnused, isUnused, keepUnused, unverified } from '../../clients/self-registered.ts'
import { isRecord } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata, isOAuthError } from '../../errors.ts'
import type { RatePolicy } from '../../limits/resources.ts'
import type { DocumentRules } from '../../outgoing/documents.ts'
import type { SelfRegistration } from '../../storage/client-settings.ts'
import type { Client } from '../../storage/records.ts'
import { addressProblem } from './document-address.ts'
import { type DescribedClient, readMetadata } from './read-metadata.ts'
import type { RedirectPolicy } from './redirects.ts'
import { assertSector } from './sector.ts'

export interface DocumentSettings {
  /** Null: any. */
  readonly hosts: readonly string[] | null
  readonly rate: RatePolicy
  readonly unusedSeconds: number
  readonly redirects: RedirectPolicy
  readonly scopes: 'registered' | 'marked'
}

const DOCUMENT: DocumentRules = {
  types: ['application/json'],
  largest: 16 * 1024,
  usableWhenAway: 24 * 3600,
}
/** Documents that this process has compared with their rows: they are read once. */
const compared = new WeakSet<object>()

/**
 * The client that the document at its `client_id` describes. It has a row, because tokens and consents refer to one,
 * and the row follows the document. Null when somebody here has deleted it.
 */
export async function findByDocument(
  clientId: string,
  settings: DocumentSettings,
  context: ServerContext,
): Promise<Client | null> {
  const problem = addressProblem(clientId, settings.hosts, context)
  if (problem !== null) throw new InvalidClientMetadata(`This client_id ${problem}`)
  const known = await context.clients.find(rowIdOf(clientId))
  // Before anything is fetched on a stranger's behalf.
  if (!known) await context.resources.count(settings.rate, context.network)
  const content = await fetchDocument(clientId, context)
  if (known && compared.has(content)) return known
  const described = await readDocument(content, clientId, settings, context)
  const client = await storeAs(clientId, described, settings, context)
  compared.add(content)
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
  throw new InvalidClientMetadata('The document at this client_id is no JSON object')
}

/** Client ID Metadata Document §4: it says itself whose it is, and there is no secret that we share with it. */
async function readDocument(
  content: Readonly<Record<string, unknown>>,
  clientId: string,
  { redirects, scopes }: DocumentSettings,
  context: ServerContext,
): Promise<DescribedClient> {
  if (content.client_id !== clientId) {
    throw new InvalidClientMetadata('client_id in the document is not its address')
  }
  const method = content.token_endpoint_auth_method
  const shares = typeof method === 'string' && method.startsWith('client_secret_')
  if (shares || 'client_secret' in content || 'client_secret_expires_at' in content) {
    throw new InvalidClientMetadata('A client with a document has no secret')
  }
  const rules = { redirects, scopes, usualMethod: 'none' } as const
  const named = { client_name: new URL(clientId).host, ...content }
  const described = readMetadata(named, rules, context)
  await assertSector(described, context.outgoing.documents.get, context.network)
  return described
}

async function storeAs(
  clientId: string,
  described: DescribedClient,
  { unusedSeconds }: DocumentSettings,
  context: ServerContext,
): Promise<Client | null> {
  const id = rowIdOf(clientId)
  const now = context.clock.now()
  const unused_until = now.getTime() + unusedSeconds * 1000
  const registration = { by: 'document', document: clientId, unused_until } as const
  if (!(await context.storage.clients.find(id))) {
    const client: Client = {
      ...described,
      id,
      userId: null,
      // Even with a key of its own: nothing it has was agreed upon with us, so PKCE is a must.
      confidential: false,
      secretHash: null,
      secretVersion: 1,
      firstParty: false,
      resourceServer: false,
      revokedAt: null,
      createdAt: now,
      updatedAt: now,
    }
    const created = await createUnused(client, registration, context)
    return created ?? context.storage.clients.find(id)
  }
  try {
    return await changeClient(id, (now) => follow(now, described, registration, context), context)
  } catch (error) {
    if (isOAuthError(error, 'not_found')) return null
    throw error
  }
}

/** What of the row is not as the document says; null for nothing. */
async function follow(
  row: Client,
  described: DescribedClient,
  registration: SelfRegistration & { readonly unused_until: number },
  context: ServerContext,
): Promise<ClientFields | null> {
  const { self_registered: before = registration } = row.settings
  const { unused_until } = registration
  const over = isUnused(row) && (before.unused_until ?? 0) <= context.clock.now().getTime()
  if (!over && isAsDescribed(row, described)) return null
  // It comes again after it was given up, and its row is still there.
  if (over) await keepUnused({ clientId: row.id, until: unused_until }, context)
  const known = hasNewKeysOnly(row, described) ? before : unverified(before)
  const self_registered = over ? { ...known, unused_until } : known
  const { confidential: _, settings, ...fields } = described
  return { ...fields, settings: { ...settings, self_registered } }
}

/** Keys are changed from time to time, by who they are of. */
function hasNewKeysOnly(row: Client, described: DescribedClient): boolean {
  const { jwks: _, ...settings } = row.settings
  const { jwks: __, ...wanted } = described.settings
  return isAsDescribed({ ...row, settings }, { ...described, settings: wanted })
}

function isAsDescribed(row: Client, { confidential: _, ...described }: DescribedClient): boolean {
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
