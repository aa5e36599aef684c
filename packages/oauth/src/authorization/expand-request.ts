import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { ExpandedRequest } from '../features/feature.ts'
import type { Form } from '../http/form.ts'

/** The parameters of an authorization request, however they came. */
export interface ReceivedRequest {
  readonly params: Form
  /** The names of the features that they came by; none where they stood in the URL. */
  readonly expandedBy: readonly string[]
  /** The hash of the ticket that ends with the answer. */
  readonly ticket: string | null
  /** To be called before a person is shown something: see `ExpandedRequest`. */
  readonly keep: ExpandedRequest['keep'] | null
}

/** What the request says, where it only points to its parameters or wraps them; else what was sent. */
export async function expandRequest(
  params: Form,
  context: ServerContext,
): Promise<ReceivedRequest> {
  const { requestExpanders } = context.features
  // Before anything begins: a promise that nobody waits for would end the process when it fails.
  if (requestExpanders.length > 0 && params.has('request') && params.has('request_uri')) {
    throw new InvalidRequest('Send request or request_uri, not both')
  }
  for (const feature of requestExpanders) {
    const expanding = feature.expandRequest?.(params, context)
    if (!expanding) continue
    const { params: said, expandedBy = [], ticket = null, keep = null } = await expanding
    return { params: said, expandedBy: [...expandedBy, feature.name], ticket, keep }
  }
  return { params, expandedBy: [], ticket: null, keep: null }
}
