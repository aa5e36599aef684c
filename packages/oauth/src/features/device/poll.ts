import { isAfter } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  InvalidGrant,
  isOAuthError,
  SlowDown,
} from '../../errors.ts'
import type { GrantType, TokenEndpointRequest, TokenResponse } from '../../grants/grant.ts'
import { determineAccessFromGrant } from '../../grants/requested-share.ts'
import { requireParam } from '../../http/form.ts'
import type { AuthorizationCode, Client } from '../../storage/records.ts'
import { createTokenResponse, prepareToken } from '../../tokens/issue.ts'
import { matchesProvenKey } from '../../tokens/proven-key.ts'
import { revokeTokens } from '../../tokens/revoke.ts'
import { changeDeviceRequest, type DeviceRequest, hashDeviceCode } from './device-request.ts'

export const DEVICE_CODE_GRANT_TYPE: GrantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** Seconds added to the interval (RFC 8628 §3.5). */
const SLOW_DOWN_SECONDS = 5
/**
 * Tolerated clock difference between two processes in milliseconds, so that it does not count as
 * polling too fast.
 */
const GRACE_MS = 500

/**
 * Handles a poll of a device at the token endpoint. Returns the token once, after the person has
 * approved (RFC 8628 §3.4).
 */
export async function exchangeDeviceCode(
  { client, params }: TokenEndpointRequest,
  context: ServerContext,
): Promise<TokenResponse> {
  const hash = hashDeviceCode(requireParam(params, 'device_code'))
  const { decision } = await countPoll(hash, client, context)
  if (decision === null) throw new AuthorizationPending('The user has not decided yet')
  if (!decision.approved) throw new AccessDenied('The user denied the request')
  const code = await context.storage.codes.find(decision.codeHash)
  // The approval was withdrawn: the person was signed out everywhere or has revoked it.
  if (!code) throw createExpiredToken()
  if (code.usedAt) return refuseReplay(code, context)
  if (!matchesProvenKey(code, context)) {
    throw new InvalidGrant('The device code was requested with a different key')
  }
  const share = determineAccessFromGrant(code, { client, params, scopes: [] }, context)
  // Check before the code is used up: if the application's lookup fails, the device can retry.
  if (!(await context.knownUsers.existsNow(code.userId))) throw createExpiredToken()
  const token = await prepareToken(
    {
      id: code.tokenId,
      client,
      userId: code.userId,
      scopes: code.scopes,
      grantType: DEVICE_CODE_GRANT_TYPE,
      refreshable: true,
      details: code.details,
    },
    context,
    share,
  )
  const won = await context.storage.codes.exchange(code.hash, token.createdAt, token)
  if (!won) return refuseReplay(code, context)
  return createTokenResponse(token, context, share)
}

/**
 * Records the time of a poll. Of several concurrent polls the first one wins and the others count
 * as too fast, so only one can ever get the token.
 */
async function countPoll(
  hash: string,
  client: Client,
  context: ServerContext,
): Promise<DeviceRequest> {
  const now = context.clock.now()
  const at = now.getTime()
  let tooFast = false
  const request = await changeDeviceRequest(
    hash,
    ({ request, expiresAt }) => {
      // A code presented by another client is rejected without any change: its owner may still use
      // it.
      if (request.clientId !== client.id) return null
      if (!isAfter(expiresAt, now)) throw createExpiredToken()
      const { polledAt, interval } = request
      tooFast = polledAt !== null && at - polledAt < interval * 1000 - GRACE_MS
      return {
        ...request,
        polledAt: at,
        interval: tooFast ? interval + SLOW_DOWN_SECONDS : interval,
      }
    },
    context,
  ).catch((error) => {
    // So many concurrent polls are too many, whichever process they reach.
    throw isOAuthError(error, 'temporarily_unavailable') ? slowDown() : error
  })
  if (!request) throw new InvalidGrant('The device code is unknown, or belongs to another client')
  if (tooFast) throw slowDown()
  return request
}

/**
 * Revokes the token. A device with a token stops polling, so this is a second party, or a device
 * that lost the response; in neither case does an honest device use the token.
 */
async function refuseReplay(code: AuthorizationCode, context: ServerContext): Promise<never> {
  await revokeTokens({ id: code.tokenId }, context)
  throw new InvalidGrant('The device code was used before')
}

function createExpiredToken(): ExpiredToken {
  return new ExpiredToken('The device code has expired, or the approval was withdrawn', {
    hint: 'Start again with a new device code',
  })
}

function slowDown(): SlowDown {
  return new SlowDown(`Wait ${SLOW_DOWN_SECONDS} seconds longer between two requests`)
}
