import type { HttpRequest } from '@tollgate/http'
import { InvalidRequest, UnsupportedMediaType } from '../errors.ts'

/** No request of ours needs more; the longest are a 2 kB state and a few scopes. */
export const LARGEST_BODY = 64 * 1024

export function mediaType(request: HttpRequest): string {
  const header = request.header('content-type') ?? ''
  const end = header.indexOf(';')
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase()
}

/** Only `application/json`: a cross-site form can send three other types without asking first. */
export async function readJson(request: HttpRequest): Promise<unknown> {
  if (mediaType(request) !== 'application/json') {
    throw new UnsupportedMediaType('Send the body as application/json.')
  }
  const text = await request.text(LARGEST_BODY)
  // What is not UTF-8 was replaced when it was decoded; a NUL or lone half of a pair is no text.
  if (text.includes('\ufffd')) throw new InvalidRequest('The body is not UTF-8')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new InvalidRequest('The body is not JSON', { cause })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new InvalidRequest('The body must be a JSON object')
  }
  return parsed
}
