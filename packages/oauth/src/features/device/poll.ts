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
import type { ExchangeRequest, GrantType, TokenResponse } from '../../grants/grant.ts'
import { shareOfGrant } from '../../grants/requested-resources.ts'
import { requireParam } from '../../http/form.ts'
import type { AuthorizationCode, Client } from '../../storage/records.ts'
import { createTokenResponse, prepareToken } from '../../tokens/issue.ts'
import { isForHolder } from '../../tokens/proven-key.ts'
import { revokeTokens } from '../../tokens/revoke.ts'
import { changeDeviceRequest, type DeviceRequest, deviceHash } from './device-request.ts'

export const DEVICE_CODE: GrantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** RFC 8628 §3.5. */
const SLOWER_BY = 5
/** The clocks of two processes may differ by so much without a device being called too fast. */
const GRACE = 500

/** A device asks whether the person has decided, and gets its token once (RFC 8628 §3.4). */
export async function pollDevice(
  { client, params }: ExchangeRequest,
  context: ServerContext,
): Promise<TokenResponse> {
  const hash = deviceHash(requireParam(params, 'device_code'))
  const { decision } = await countPoll(hash, client, context)
  if (decision === null) throw new AuthorizationPending('The user has not decided yet')
  if (!decision.approved) throw new AccessDenied('The user denied the request')
  const code = await context.storage.codes.find(decision.codeHash)
  // Withdrawn since: the person was signed out everywhere, or has taken the approval back.
  if (!code) throw ended()
  if (code.usedAt) return refuseReplay(code, context)
  if (!isForHolder(code, context)) {
    throw new InvalidGrant('The device code was asked for with another key')
  }
  const share = shareOfGrant(code, { client, params, scopes: [] }, context)
  // Before the code is used up: a failing hook must not cost an honest device its grant.
  if (!(await context.knownUsers.existsNow(code.userId))) throw ended()
  const token = await prepareToken(
    {
      id: code.tokenId,
      client,
      userId: code.userId,
      scopes: code.scopes,
      grantType: DEVICE_CODE,
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
 * Writes down when the device asked. Of several at once one is the first; for it the others came too fast, so
 * only one ever gets as far as the token.
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
      // Shown by another client it is refused and not touched: its owner may still come.
      if (request.clientId !== client.id) return null
      if (!isAfter(expiresAt, now)) throw ended()
      const { polledAt, interval } = request
      tooFast = polledAt !== null && at - polledAt < interval * 1000 - GRACE
      return { ...request, polledAt: at, interval: tooFast ? interval + SLOWER_BY : interval }
    },
    context,
  ).catch((error) => {
    // So many at once are too many, whoever they are.
    throw isOAuthError(error, 'temporarily_unavailable') ? slowDown() : error
  })
  if (!request) throw new InvalidGrant('The device code is unknown, or of another client')
  if (tooFast) throw slowDown()
  return request
}

/**
 * A device that has its token asks no more. Whoever does is a second one, or one whose response was lost: in both
 * cases nobody honest uses what was given.
 */
async function refuseReplay(code: AuthorizationCode, context: ServerContext): Promise<never> {
  await revokeTokens({ id: code.tokenId }, context)
  throw new InvalidGrant('The device code was used before')
}

function ended(): ExpiredToken {
  return new ExpiredToken('The device code has expired, or the approval was withdrawn', {
    hint: 'Start again with a new device code',
  })
}

function slowDown(): SlowDown {
  return new SlowDown(`Wait ${SLOWER_BY} seconds longer between two requests`)
}
