import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { ExpandedRequest } from '../features/feature.ts'
import type { Form } from '../http/form.ts'

/**
 * The parameters of an authorization request: sent in the URL, or supplied by features, such as
 * from a pushed request or a request object.
 */
export interface ReceivedAuthorizationRequest {
  readonly params: Form
  /** Names of the features that supplied the parameters. Empty if they were in the URL. */
  readonly expandedBy: readonly string[]
  /**
   * Hash of a single-use ticket, such as that of a pushed request. Sending the response consumes
   * it, so that the request is answered only once. `null` for none.
   */
  readonly ticket: string | null
  /**
   * Extends the validity of the request. Must be called before a page is shown to the person, who
   * may take some time; see `ExpandedRequest.keep`. `null` if this is not needed.
   */
  readonly keep: ExpandedRequest['keep'] | null
}

/**
 * Reads the parameters of an authorization request that refers to them (`request_uri`) or wraps
 * them (`request`). All other requests are returned unchanged.
 */
export async function expandRequest(
  params: Form,
  context: ServerContext,
): Promise<ReceivedAuthorizationRequest> {
  const { requestExpanders } = context.features
  // Checked before any feature starts to read the request: the rejection of a promise that is never
  // awaited would end the process.
  if (requestExpanders.length > 0 && params.has('request') && params.has('request_uri')) {
    throw new InvalidRequest('Send request or request_uri, not both')
  }
  for (const feature of requestExpanders) {
    const expanding = feature.expandRequest?.(params, context)
    if (!expanding) continue
    const { params: expandedParams, expandedBy = [], ticket = null, keep = null } = await expanding
    return { params: expandedParams, expandedBy: [...expandedBy, feature.name], ticket, keep }
  }
  return { params, expandedBy: [], ticket: null, keep: null }
}
