import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { ExpandedRequest } from '../features/feature.ts'
import type { Form } from '../http/form.ts'

/** The parameters of an authorization request, from the URL or read by features. */
export interface ReceivedRequest {
  readonly params: Form
  /** Names of the features that supplied the parameters. Empty if they were in the URL. */
  readonly expandedBy: readonly string[]
  /** Hash of the single-use ticket that the response consumes. `null` for none. */
  readonly ticket: string | null
  /**
   * Must be called before a page is shown; see `ExpandedRequest`. `null` if there is nothing to
   * keep.
   */
  readonly keep: ExpandedRequest['keep'] | null
}

/**
 * Reads the parameters of a request that only refers to them or wraps them. Other requests are
 * returned unchanged.
 */
export async function expandRequest(
  params: Form,
  context: ServerContext,
): Promise<ReceivedRequest> {
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
