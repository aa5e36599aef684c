import type { HttpRequest } from '../../core/http.ts'
import { BadRequest } from '../wire/errors.ts'
import { parseXml } from '../wire/xml-parse.ts'

const MAX_DEPTH = 20

/** Parses a request body: JSON from the SDK for Node, XML from all other SDKs. */
export function parseBody({ body, headers }: HttpRequest): unknown {
  if (body.length === 0) return undefined
  if (/^(?:application|text)\/xml\b/i.test(headers['content-type'] ?? '')) return parseXml(body)
  return parseJson(body)
}

export function parseJson(body: Buffer): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new BadRequest('The body is not JSON', { cause })
  }
  if (isTooDeep(parsed)) throw new BadRequest('The body is nested too deep')
  return parsed
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    )
  }
  return false
}
