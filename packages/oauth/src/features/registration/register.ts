import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { createClientSecret } from '../../clients/secret.ts'
import { createUnusedClient } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { createRandomId, createRandomSecret, sha256 } from '../../crypto.ts'
import { InvalidToken } from '../../errors.ts'
import { parseBearer } from '../../guard/bearer.ts'
import { readJson } from '../../http/body.ts'
import { noStoreJsonResponse } from '../../http/responses.ts'
import type { Client } from '../../storage/records.ts'
import { buildClientInformation } from './client-information.ts'
import {
  type MetadataRules,
  readClientMetadata,
  type ValidatedClientMetadata,
} from './read-metadata.ts'
import { assertSectorListsRedirects } from './sector.ts'
import type { RegistrationSettings } from './settings.ts'

/** Handles POST /oauth/register (RFC 7591 §3.1). */
export async function handleRegistration(
  request: HttpRequest,
  settings: RegistrationSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  if (settings.policy === 'initial-access-token') assertInitialAccess(request, settings)
  const given = (await readJson(request)) as Readonly<Record<string, unknown>>
  const described = readClientMetadata(given, getMetadataRules(settings), context)
  // Checked before anything is fetched or stored on behalf of a stranger. A caller with an initial
  // access token is not a stranger.
  if (settings.policy === 'open') await context.resources.count(settings.rate, context.network)
  await assertSectorListsRedirects(described, context.outgoing.documents.fetchNow, context.network)
  const managementToken = `tgr_${createRandomSecret()}`
  const { client, secret } = await store(described, managementToken, settings, context)
  const issued = secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 }
  return noStoreJsonResponse(
    { ...buildClientInformation(client, managementToken, context), ...issued },
    201,
  )
}

export function getMetadataRules({ redirects, scopes }: RegistrationSettings): MetadataRules {
  return { redirects, scopes, defaultMethod: 'client_secret_basic' }
}

function assertInitialAccess(
  request: HttpRequest,
  { isInitialAccessToken }: RegistrationSettings,
): void {
  const header = request.header('authorization')
  if (header === null) {
    throw new InvalidToken('An initial access token is needed to register', { presented: false })
  }
  if (!isInitialAccessToken(parseBearer(header))) {
    throw new InvalidToken('The initial access token is not valid at this server')
  }
}

async function store(
  described: ValidatedClientMetadata,
  managementToken: string,
  { unusedSeconds }: RegistrationSettings,
  context: ServerContext,
): Promise<{ readonly client: Client; readonly secret: string | null }> {
  const now = context.clock.now()
  const { secret, secretHash, settings } = await createClientSecret(described, context)
  const client: Client = {
    ...described,
    id: createRandomId(),
    userId: null,
    secretHash,
    secretVersion: 1,
    firstParty: false,
    resourceServer: false,
    settings,
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const registration = {
    by: 'registration' as const,
    management_hash: sha256(managementToken),
    unused_until: now.getTime() + unusedSeconds * 1000,
  }
  const stored = await createUnusedClient(client, registration, context)
  if (!stored) throw new Error(`The id ${client.id} is taken`)
  return { client: stored, secret }
}
