import type { ServerContext } from '../context.ts'
import { Conflict, NotFound, ValidationFailed } from '../errors.ts'
import { parseSeconds } from '../lifetimes.ts'
import type { ClientAuthMethod, PreviousSecret } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { requireClient } from './find.ts'
import { type ClientFields, changeClient } from './save.ts'
import { type CreatedClient, createClientSecret, hasClientSecret } from './secret.ts'
import { parseOwnSettings } from './settings/own-settings.ts'
import { pickOwnSettings } from './settings/server-settings.ts'

/** Options for `clients.rotateSecret()`. */
export interface SecretRotation {
  /**
   * How long the old secret keeps authenticating, such as `'24h'` or a number of seconds; at most
   * 30 days. Refresh tokens survive, and so do the tokens that the client got for itself. Without
   * `overlap`, the old secret and all these tokens become invalid, as they must after a leak.
   */
  readonly overlap?: string | number
  /**
   * Authentication method that the new secret is for, such as `client_secret_jwt`. Cannot be
   * combined with `overlap`, because a client has only one method. If absent, the method does not
   * change.
   */
  readonly method?: Extract<ClientAuthMethod, `client_secret_${string}`>
}

const MAX_OVERLAP = 30 * 24 * 3600

/** Replaces the secret of a client. See `Clients.rotateSecret()`. */
export async function rotateSecret(
  id: string,
  { overlap, method }: SecretRotation,
  context: ServerContext,
): Promise<CreatedClient> {
  const seconds = overlap === undefined ? null : parseOverlap(overlap)
  if (seconds !== null && method !== undefined) {
    throw new ValidationFailed({
      method: ['The old secret cannot stay valid when the method changes: omit overlap or method.'],
    })
  }
  const before = await requireClient(id, context)
  if (!before.confidential) throw new NotFound('This client is public: it has no secret.')
  let rotated: string | null = null
  const decide = async (client: Client): Promise<ClientFields> => {
    if (!hasSameSecret(client, before)) throw new Conflict('The secret has just been rotated.')
    const own = method === undefined ? client : withMethod(client, method, context)
    if (!hasClientSecret(own))
      throw new NotFound('This client authenticates with a key and has no secret.')
    const { secret, secretHash, settings } = await createClientSecret(own, context)
    rotated = secret
    const { previous_secret: _, ...others } = settings
    if (seconds === null) {
      return { secretHash, secretVersion: client.secretVersion + 1, settings: others }
    }
    const previous_secret = toPreviousSecret(client, seconds, context)
    return { secretHash, settings: { ...others, ...(previous_secret && { previous_secret }) } }
  }
  const saved = await changeClient(before.id, decide, context)
  if (seconds === null) await revokeOwnTokens(saved, context)
  return { client: saved, secret: rotated }
}

/**
 * Revokes the tokens that a client got for itself with a leaked secret. A second time once every
 * process knows that the secret has been replaced, because another process may accept it until then.
 * The caller gets the new secret only afterwards, so no token of the new secret is revoked.
 */
async function revokeOwnTokens({ id }: Client, context: ServerContext): Promise<void> {
  const own = { userId: null, clientId: id }
  await context.revokeTokens(own)
  await context.feed.settled()
  await context.revokeTokens(own)
}

/** Ends the overlap of a planned rotation. See `Clients.endPreviousSecret()`. */
export async function endPreviousSecret(id: string, context: ServerContext): Promise<Client> {
  const client = await requireClient(id, context)
  return changeClient(client.id, withoutPreviousSecret, context)
}

function withoutPreviousSecret({ settings }: Client): ClientFields | null {
  const { previous_secret, ...others } = settings
  return previous_secret === undefined ? null : { settings: others }
}

function parseOverlap(overlap: string | number): number {
  try {
    const seconds = parseSeconds('overlap', overlap)
    if (seconds <= MAX_OVERLAP) return seconds
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  throw new ValidationFailed({
    overlap: ["The overlap must be from one second to 30 days, such as '24h' or 3600."],
  })
}

/**
 * Whether the client still has the secret that it had `before`. Compares the hash too, because a
 * planned rotation does not change the version of the secret.
 */
function hasSameSecret(client: Client, clientBefore: Client): boolean {
  return (
    client.secretHash === clientBefore.secretHash &&
    client.secretVersion === clientBefore.secretVersion
  )
}

function withMethod(
  { confidential, settings }: Client,
  token_endpoint_auth_method: ClientAuthMethod,
  context: ServerContext,
): Pick<Client, 'confidential' | 'settings'> {
  const { sealed_secret: _, ...others } = settings
  parseOwnSettings({ ...pickOwnSettings(settings), token_endpoint_auth_method }, context)
  return { confidential, settings: { ...others, token_endpoint_auth_method } }
}

/**
 * Returns the current secret in the form in which it is stored as the previous one. `null` if the
 * client has lost its secret.
 */
function toPreviousSecret(
  { secretHash, settings: { sealed_secret } }: Client,
  seconds: number,
  { clock }: ServerContext,
): PreviousSecret | null {
  if (secretHash === null) return null
  const until = clock.now().getTime() + seconds * 1000
  return { hash: secretHash, until, ...(sealed_secret !== undefined && { sealed: sealed_secret }) }
}
