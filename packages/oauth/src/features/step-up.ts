import type { Feature } from './feature.ts'

/** What `stepUp()` is made with. */
export interface StepUpOptions {
  /** What your sign-in gives as `acr`, the weakest first; told in the metadata. */
  readonly acrValues?: readonly string[]
}

/**
 * Routes can demand a recent or a better sign-in (RFC 9470): `auth('api'), stepUp({ maxAge: '15m' })`. Access
 * tokens then say when and how the person had signed in, and `acr_values` of a request is passed on to your
 * sign-in page.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [stepUp({ acrValues: ['mfa'] })] })
 */
export function stepUp({ acrValues = [] }: StepUpOptions = {}): Feature {
  return {
    name: 'stepUp',
    tellsSignIn: true,
    metadata: () => (acrValues.length > 0 ? { acr_values_supported: acrValues } : {}),
    requestParameters: ['acr_values'],
    readRequest(params, { client }) {
      const wished = params.get('acr_values')?.split(' ') ?? client.settings.default_acr_values
      return { saysSignIn: true, ...(wished && { acrValues: wished }) }
    },
    acceptsSignIn(details, { acr }) {
      const wished = details?.acrValues
      return wished === undefined || (acr !== null && wished.includes(acr))
    },
  }
}
