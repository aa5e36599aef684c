import { fapi2 } from '@tollgate/oauth'
import type { Settings } from './settings.ts'
import { isAccepted } from './values.ts'

/**
 * Applies the setting `fapi2`: switches off the features that the FAPI 2.0 Security Profile
 * forbids, and makes those that it demands mandatory.
 */
export function applyFapi2(settings: Settings): Settings {
  if (!settings.fapi2) return settings
  // RS256 is only the default for other clients, and the profile forbids it.
  const idTokenAlgorithm =
    settings.idTokenAlgorithm === 'RS256' ? 'ES256' : settings.idTokenAlgorithm
  return {
    ...settings,
    passwordGrant: false,
    implicitGrant: false,
    pushedRequests: 'required',
    dpop: 'required',
    idTokenAlgorithm,
    idTokenAlgorithms: settings.idTokenAlgorithms ?? [idTokenAlgorithm],
    introspectionAlgorithms: settings.introspectionAlgorithms ?? [settings.signingAlgorithm],
  }
}

/**
 * The options that can be set under the FAPI 2.0 profile, by the feature of the authorization
 * server to which they belong.
 */
export const OPTIONS_UNDER_FAPI2 = {
  dpop: ['nonces', 'apiUrls', 'guardReplays'],
  pushedRequests: ['lifetime'],
  jwtClientAuthentication: ['assertionsExpireIn'],
  requestObjects: ['required'],
} as const

/** Lists the settings that contradict the FAPI 2.0 Security Profile, one sentence each. */
export function findFapi2Problems(settings: Settings): string[] {
  if (!settings.fapi2) return []
  const { pushedRequestsExpireIn: lifetime } = settings
  const contradictions: ReadonlyArray<readonly [boolean | undefined, string]> = [
    [settings.clientAssertions !== true, 'clientAssertions, which must be true'],
    [settings.pushedRequests === false, 'pushedRequests, which must not be false'],
    [settings.dpop === false, 'dpop, which must not be false'],
    [settings.responseTypes.length > 0, 'responseTypes, which must be empty'],
    [settings.requestObjectsByReference, 'requestObjectsByReference, which must be false'],
    [settings.unsignedRequestObjects === true, 'unsignedRequestObjects, which must be false'],
    [settings.signingAlgorithm === 'RS256', 'signingAlgorithm, which must be ES256 or EdDSA'],
    [
      lifetime !== null && !isAccepted(() => fapi2({ pushedRequests: { lifetime } })),
      'pushedRequestsExpireIn, which must be less than 600 seconds',
    ],
    [settings.idTokenAlgorithms?.includes('RS256'), 'idTokenAlgorithms, which must not have RS256'],
    [
      settings.introspectionAlgorithm === 'RS256' ||
        settings.introspectionAlgorithms?.includes('RS256'),
      'introspectionAlgorithm and introspectionAlgorithms, which must not have RS256',
    ],
  ]
  return contradictions
    .filter(([isWrong]) => isWrong)
    .map(([, setting]) => `fapi2 contradicts ${setting}.`)
}
