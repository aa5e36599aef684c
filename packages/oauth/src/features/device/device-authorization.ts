import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { assertSupported, readDetails } from '../../authorization/request-details.ts'
import { authenticateClient } from '../../clients/authenticate.ts'
import type { ServerContext } from '../../context.ts'
import { UnauthorizedClient } from '../../errors.ts'
import { readForm } from '../../http/form.ts'
import { noStoreJson } from '../../http/responses.ts'
import { storeDeviceRequest } from './device-request.ts'
import { DEVICE_CODE } from './poll.ts'

export interface DeviceSettings {
  readonly lifetime: number
  readonly interval: number
}

/** POST /oauth/device_authorization (RFC 8628 §3.1): a device asks, and learns what to show the person. */
export async function authorizeDevice(
  request: HttpRequest,
  { lifetime, interval }: DeviceSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  if (!client.grantTypes.includes(DEVICE_CODE)) {
    throw new UnauthorizedClient(`This client may not use grant_type=${DEVICE_CODE}`)
  }
  assertSupported(params, context)
  const scopes = context.resolveScopes(params.get('scope'), client)
  const requested = { client, responseType: DEVICE_CODE, scopes, expandedBy: [], direct: true }
  const details = readDetails(params, requested, context)
  const asked = { client, scopes, details, interval }
  const { deviceCode, userCode } = await storeDeviceRequest(asked, lifetime, context)
  const { issuerUrl, basePath } = context.options
  const page = `${issuerUrl.origin}${basePath}/device`
  return noStoreJson({
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: lifetime,
    interval,
  })
}
