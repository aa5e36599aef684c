import { NotFetched, type OutgoingResponse } from '@tollgate/http/outgoing'
import type { ServerContext } from '../../context.ts'
import { InvalidRequestUri } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'

/** RFC 9101 §5.2.3, and what was usual before it. */
const TYPES: readonly string[] = ['application/oauth-authz-req+jwt', 'application/jwt']
const LARGEST = 64 * 1024

/** The text of the request object at an address of the client. */
export type FetchObject = (uri: string, client: Client, context: ServerContext) => Promise<string>

/**
 * OpenID Connect Core §6.2: the object lies at an address that the client has registered. Nothing is remembered,
 * because the next request may well be another one at the same address.
 */
export const fetchObject: FetchObject = async (uri, client, { outgoing, network }) => {
  if (!isRegistered(uri, client)) {
    throw new InvalidRequestUri('This request_uri is not registered for the application')
  }
  const asked = { method: 'GET', headers: { accept: TYPES.join(', ') }, largest: LARGEST } as const
  try {
    return textOf(await outgoing.places.send(network, () => outgoing.send(new URL(uri), asked)))
  } catch (cause) {
    if (!(cause instanceof NotFetched)) throw cause
    throw new InvalidRequestUri('The request_uri cannot be fetched', { cause })
  }
}

/** The fragment is a hash of the content and may be left out at the registration. */
function isRegistered(uri: string, { settings: { request_uris = [] } }: Client): boolean {
  const [address = ''] = uri.split('#')
  return request_uris.includes(uri) || request_uris.includes(address)
}

function textOf(response: OutgoingResponse): string {
  if (response.status !== 200) throw new NotFetched(`It was answered with ${response.status}`)
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!TYPES.includes(type)) throw new NotFetched('It has another content type than a JWT')
  return response.body.toString('latin1').trim()
}
