import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { assertParametersSupported, readGrantDetails } from '../../authorization/request-details.ts'
import { authenticateClient } from '../../clients/authenticate.ts'
import type { ServerContext } from '../../context.ts'
import { UnauthorizedClient } from '../../errors.ts'
import type { Grant } from '../../grants/grant.ts'
import { withDefaultScopes } from '../../grants/requested-share.ts'
import { readForm } from '../../http/form.ts'
import { noStoreJsonResponse } from '../../http/responses.ts'
import { parseSeconds } from '../../lifetimes.ts'
import { storeDeviceRequest } from './device-request.ts'
import { showDevicePage, submitDevicePage } from './page.ts'
import { DEVICE_CODE_GRANT_TYPE, exchangeDeviceCode } from './poll.ts'

/** Options of `deviceCode()`. */
export interface DeviceCodeOptions {
  /**
   * How long a person has to enter the code and approve, from 1 to 30 minutes.
   * @default '10m'
   */
  readonly lifetime?: string | number
  /**
   * How long a device waits between two requests, from 1 to 60 seconds.
   * @default 5
   */
  readonly interval?: string | number
}

/**
 * Creates the device grant (RFC 8628), for devices without a browser or a keyboard. The device
 * shows a short code, the person enters it on a page of this server and approves, and the device
 * polls until it gets its token.
 * @example
 * createAuthorizationServer({ …, grants: [deviceCode(), refreshToken()] })
 */
export function deviceCode(options: DeviceCodeOptions = {}): Grant {
  const settings = {
    lifetime: parseSecondsInRange('lifetime', options.lifetime ?? 600, 60, 1800),
    interval: parseSecondsInRange('interval', options.interval ?? 5, 1, 60),
  }
  return {
    type: DEVICE_CODE_GRANT_TYPE,
    exchange: (request, context: ServerContext) => exchangeDeviceCode(request, context),
    routes: [
      {
        method: 'POST',
        path: '/device_authorization',
        openTo: 'clients',
        endpoint: (request, context: ServerContext) => authorizeDevice(request, settings, context),
      },
      { method: 'GET', path: '/device', isPage: true, endpoint: showDevicePage },
      { method: 'POST', path: '/device', isPage: true, endpoint: submitDevicePage },
    ],
    metadata: ({ options: { issuerUrl, basePath } }: ServerContext) => ({
      device_authorization_endpoint: `${issuerUrl.origin}${basePath}/device_authorization`,
    }),
  }
}

function parseSecondsInRange(
  name: string,
  value: string | number,
  minSeconds: number,
  maxSeconds: number,
): number {
  const seconds = parseSeconds(`deviceCode: ${name}`, value)
  if (seconds >= minSeconds && seconds <= maxSeconds) return seconds
  throw new TypeError(`deviceCode: ${name} must be ${minSeconds} to ${maxSeconds} seconds.`)
}

interface DeviceSettings {
  readonly lifetime: number
  readonly interval: number
}

/** Handles POST /oauth/device_authorization (RFC 8628 §3.1): returns the codes for a device. */
async function authorizeDevice(
  request: HttpRequest,
  { lifetime, interval }: DeviceSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  if (!client.grantTypes.includes(DEVICE_CODE_GRANT_TYPE)) {
    throw new UnauthorizedClient(`This client may not use grant_type=${DEVICE_CODE_GRANT_TYPE}`)
  }
  assertParametersSupported(params, context)
  const named = context.resolveScopes(params.get('scope'), client)
  const scopes = withDefaultScopes(named, { client, params }, context)
  const requested = {
    client,
    responseType: DEVICE_CODE_GRANT_TYPE,
    scopes,
    expandedBy: [],
    direct: true,
  }
  const details = readGrantDetails(params, requested, context)
  const newRequest = { client, scopes, details, interval }
  const { deviceCode, userCode } = await storeDeviceRequest(newRequest, lifetime, context)
  const { issuerUrl, basePath } = context.options
  const page = `${issuerUrl.origin}${basePath}/device`
  return noStoreJsonResponse({
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: lifetime,
    interval,
  })
}
