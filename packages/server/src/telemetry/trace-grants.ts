import type { Grant } from '@tollgate/oauth'
import type { Telemetry } from './telemetry.ts'

/** Adds a span to each request for a token, within that of the HTTP request. */
export function traceGrants(telemetry: Telemetry | null, grants: Grant[]): Grant[] {
  if (!telemetry) return grants
  return grants.map((grant) => {
    const exchange = grant.exchange?.bind(grant)
    if (!exchange) return grant
    return {
      ...grant,
      exchange: (request, context) => {
        const attributes = {
          'tollgate.grant_type': grant.type,
          'tollgate.client_id': request.client.id,
        }
        return telemetry.trace('issue token', { kind: 'internal', attributes }, async () =>
          exchange(request, context),
        )
      },
    }
  })
}
