import type { Settings } from './settings.ts'

/**
 * Applies the setting `fapi2`: switches off the features that the FAPI 2.0 Security Profile
 * forbids, and makes those that it demands mandatory.
 */
export function applyFapi2(settings: Settings): Settings {
  if (!settings.fapi2) return settings
  const { idTokenAlgorithm } = settings
  return {
    ...settings,
    passwordGrant: false,
    implicitGrant: false,
    pushedRequests: 'required',
    dpop: 'required',
    // RS256 is only the default for other clients, and the profile forbids it.
    idTokenAlgorithm: idTokenAlgorithm === 'RS256' ? 'ES256' : idTokenAlgorithm,
  }
}

/** Lists the settings that contradict the FAPI 2.0 Security Profile, one sentence each. */
export function findFapi2Problems(settings: Settings): string[] {
  if (!settings.fapi2) return []
  const contradictions: ReadonlyArray<readonly [boolean, string]> = [
    [settings.clientAssertions !== true, 'clientAssertions, which must be true'],
    [settings.pushedRequests === false, 'pushedRequests, which must not be false'],
    [settings.dpop === false, 'dpop, which must not be false'],
    [settings.responseTypes.length > 0, 'responseTypes, which must be empty'],
    [settings.requestObjectsByReference, 'requestObjectsByReference, which must be false'],
    [settings.unsignedRequestObjects, 'unsignedRequestObjects, which must be false'],
    [settings.signingAlgorithm === 'RS256', 'signingAlgorithm, which must be ES256 or EdDSA'],
  ]
  return contradictions
    .filter(([isWrong]) => isWrong)
    .map(([, setting]) => `fapi2 contradicts ${setting}.`)
}
