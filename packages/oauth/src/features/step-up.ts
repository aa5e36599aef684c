import type { Feature } from './feature.ts'

/** Options of `stepUp()`. */
export interface StepUpOptions {
  /**
   * The `acr` values that your sign-in can report, the weakest first. Listed in the metadata.
   * @default []
   */
  readonly acrValues?: readonly string[]
}

/**
 * Lets guarded routes demand a recent or stronger sign-in (RFC 9470), with the guard `stepUp({
 * maxAge: '15m' })` after `auth('api')`. Access tokens then contain when and how the person signed
 * in, and `acr_values` of a request is passed to your sign-in page.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [stepUp({ acrValues: ['mfa'] })] })
 */
export function stepUp({ acrValues = [] }: StepUpOptions = {}): Feature {
  return {
    name: 'stepUp',
    addsSignInClaims: true,
    metadata: () => (acrValues.length > 0 ? { acr_values_supported: acrValues } : {}),
    requestParameters: ['acr_values'],
    readRequest(params, { client }) {
      const requestedAcr =
        params.get('acr_values')?.split(' ') ?? client.settings.default_acr_values
      return { saysSignIn: true, ...(requestedAcr && { acrValues: requestedAcr }) }
    },
    acceptsSignIn(details, { acr }) {
      const requestedAcr = details?.acrValues
      return requestedAcr === undefined || (acr !== null && requestedAcr.includes(acr))
    },
  }
}
