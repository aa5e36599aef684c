import { resolveClientResources } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import {
  InvalidRequest,
  RegistrationNotSupported,
  RequestNotSupported,
  RequestUriNotSupported,
} from '../errors.ts'
import type { RequestedAuthorization } from '../features/feature.ts'
import type { Form } from '../http/form.ts'
import { assertScopesKnown, buildResourceDetails, readResources } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'

/**
 * Reads the details of an authorization request beyond its scopes: the requested APIs, and the
 * parameters that features define. Returns `null` if it has none.
 */
export function readGrantDetails(
  params: Form,
  request: RequestedAuthorization,
  context: ServerContext,
): GrantDetails | null {
  const { resources, identityScopes } = context.options
  const uris = resolveClientResources(
    request.client,
    readResources(params, resources),
    context.options,
  )
  assertScopesKnown(request.scopes, uris, resources, identityScopes)
  if (uris === null && context.features.requestReaders.length === 0) return null
  const read = context.features.requestReaders.map(
    (feature) => feature.readRequest?.(params, { ...request, resources: uris }, context) ?? null,
  )
  const parts = [...read, buildResourceDetails(uris, resources)].filter((part) => part !== null)
  if (parts.length === 0) return null
  const details: GrantDetails = Object.assign({}, ...parts)
  // A client that may not have a scope may not have single claims of it either.
  if (details.alsoShown) context.resolveScopes(details.alsoShown.join(' '), request.client)
  return details
}

/**
 * Rejects an authorization request with parameters that this server does not support, such as
 * `request`, because the client relies on their effect (RFC 9101 §7, OpenID Connect Core §3.1.2.6).
 */
export function assertParametersSupported(params: Form, { features }: ServerContext): void {
  if (params.has('request'))
    throw new RequestNotSupported('This server does not support request objects')
  if (params.has('request_uri')) {
    throw new RequestUriNotSupported('This server does not support request_uri')
  }
  if (params.has('registration')) {
    throw new RegistrationNotSupported('This server does not support the registration parameter')
  }
  if (params.has('dpop_jkt') && !features.keyProofs) {
    throw new InvalidRequest('This server does not bind authorization codes to keys: omit dpop_jkt')
  }
}
