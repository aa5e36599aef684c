import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { createClients } from '../../clients/manage.ts'
import { type ClientFields, changeClient } from '../../clients/save.ts'
import { isSecretOf } from '../../clients/secret.ts'
import { withoutVerification } from '../../clients/self-registered.ts'
import { pickServerSettings } from '../../clients/settings/server-settings.ts'
import type { ServerContext } from '../../context.ts'
import { areSecretsEqual, sha256 } from '../../crypto.ts'
import { InvalidClientMetadata, InvalidToken } from '../../errors.ts'
import { parseBearer } from '../../guard/bearer.ts'
import { readJson } from '../../http/body.ts'
import { emptyResponse, noStoreJsonResponse } from '../../http/responses.ts'
import type { Client } from '../../storage/records.ts'
import { buildClientInformation } from './client-information.ts'
import { readClientMetadata, type ValidatedClientMetadata } from './read-metadata.ts'
import { getMetadataRules } from './register.ts'
import { assertSectorListsRedirects } from './sector.ts'
import type { RegistrationSettings } from './settings.ts'

interface Managed {
  readonly client: Client
  readonly token: string
}

/** Handles GET /oauth/register/{client-id} (RFC 7592 §2.1). */
export async function handleRegistrationRead(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const { client, token } = await requireManaged(request, id, context)
  return noStoreJsonResponse(buildClientInformation(client, token, context))
}

/**
 * Handles PUT /oauth/register/{client-id} (RFC 7592 §2.2): replaces all metadata; members left out
 * are deleted.
 */
export async function handleRegistrationReplacement(
  request: HttpRequest,
  settings: RegistrationSettings,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const { client, token } = await requireManaged(request, id, context)
  const given = (await readJson(request)) as Readonly<Record<string, unknown>>
  assertSame(given, client, context)
  const described = readClientMetadata(given, getMetadataRules(settings), context)
  assertSameProof(described, client)
  // Fetching the sector document counts against a limit; otherwise one client could block the
  // fetches of all others.
  if (described.settings.sector_identifier_uri !== undefined) {
    const rate = { ...settings.rate, name: 'changed registrations' }
    await context.resources.count(rate, context.network)
  }
  await assertSectorListsRedirects(described, context.outgoing.documents.fetchNow, context.network)
  const saved = await changeClient(client.id, (now) => mergeRegistration(now, described), context)
  return noStoreJsonResponse(buildClientInformation(saved, token, context))
}

/** Combines the new metadata with the settings that only this server may change. */
function mergeRegistration({ settings }: Client, described: ValidatedClientMetadata): ClientFields {
  const { confidential: _, settings: newSettings, ...fields } = described
  const { self_registered, ...ours } = pickServerSettings(settings)
  const kept = {
    ...ours,
    ...(self_registered && { self_registered: withoutVerification(self_registered) }),
  }
  return { ...fields, settings: { ...newSettings, ...kept } }
}

/**
 * Handles DELETE /oauth/register/{client-id} (RFC 7592 §2.3): deletes the client and revokes its
 * tokens.
 */
export async function handleRegistrationDeletion(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const { client } = await requireManaged(request, id, context)
  await createClients(context).revoke(client.id)
  return emptyResponse()
}

/**
 * Finds the client and verifies its registration access token. The error is the same for a missing
 * client and for a wrong token (RFC 7592 §2). Reads the store, because the cache may be outdated.
 */
async function requireManaged(
  request: HttpRequest,
  id: string,
  context: ServerContext,
): Promise<Managed> {
  const header = request.header('authorization')
  if (header === null) {
    throw new InvalidToken('The registration access token is missing', { presented: false })
  }
  const token = parseBearer(header)
  const cached = await context.clients.find(id)
  const client = cached && (await context.storage.clients.find(id))
  const hash = client?.settings.self_registered?.management_hash
  if (client && !client.revokedAt && hash !== undefined && areSecretsEqual(sha256(token), hash)) {
    return { client, token }
  }
  throw new InvalidToken('The registration access token does not belong to this client')
}

/**
 * Requires that the metadata contain no member controlled by the server, and that id and secret are
 * unchanged (RFC 7592 §2.2).
 */
function assertSame(
  sentMetadata: Readonly<Record<string, unknown>>,
  client: Client,
  { clock }: ServerContext,
): void {
  if (sentMetadata.client_id !== client.id) {
    throw new InvalidClientMetadata('client_id must be the id of this client')
  }
  const ours = [
    'registration_access_token',
    'registration_client_uri',
    'client_secret_expires_at',
    'client_id_issued_at',
  ].find((name) => sentMetadata[name] !== undefined)
  if (ours !== undefined) throw new InvalidClientMetadata(`${ours} must not be sent`)
  const { client_secret: secret } = sentMetadata
  if (secret === undefined || secret === null) return
  if (typeof secret === 'string' && isSecretOf(client, secret, clock)) return
  throw new InvalidClientMetadata('client_secret must be the secret of this client')
}

/**
 * Requires the same kind of authentication as before, so that a stolen registration access token
 * cannot weaken it.
 */
function assertSameProof(
  { settings, confidential }: ValidatedClientMetadata,
  client: Client,
): void {
  const kindOf = (method: string | undefined) =>
    method === undefined || method.startsWith('client_secret_') ? 'secret' : method
  const before = client.settings.token_endpoint_auth_method
  const after = settings.token_endpoint_auth_method
  const sealed = (method: string | undefined) => method === 'client_secret_jwt'
  const same = kindOf(before) === kindOf(after) && sealed(before) === sealed(after)
  if (same && confidential === client.confidential) return
  throw new InvalidClientMetadata(
    `token_endpoint_auth_method cannot change from ${before ?? 'client_secret_basic'} to this method: register another client`,
  )
}
